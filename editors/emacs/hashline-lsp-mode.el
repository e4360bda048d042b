;;; hashline-lsp-mode.el --- Agents' edits, decided about with lsp-mode  -*- lexical-binding: t -*-

;; In the init file:
;;
;;   (load "/path/to/hashline/editors/emacs/hashline-lsp-mode")
;;
;; From then on `M-x lsp' starts hashline beside the servers that the buffer has, or by itself where it has none.

(require 'lsp-mode)

(defgroup hashline nil
  "Agents' edits, decided about in Emacs."
  :group 'tools)

(defcustom hashline-mode-open "propose"
  "What becomes of agents' edits of open documents.
With \"propose\" they wait until they are accepted, with \"apply\" they go
into the text at once, and are kept or undone afterwards."
  :type '(choice (const "propose") (const "apply")))

(defcustom hashline-diagnostics nil
  "Whether offered hunks are also shown as diagnostics.
With flymake lsp-mode shows the diagnostics of one server at a time: those
of hashline would hide those of the others.  Lenses show the hunks, too."
  :type 'boolean)

(lsp-register-custom-settings '(("hashline.mode.open" hashline-mode-open)
                                ("hashline.diagnostics" hashline-diagnostics t)))

(lsp-register-client
 (make-lsp-client :new-connection (lsp-stdio-connection '("hashline" "lsp"))
                  :activation-fn (lambda (&rest _) t)
                  :initialization-options (lambda () (lsp-configuration-section "hashline"))
                  :add-on? t
                  :server-id 'hashline))

;; With this the edits of agents go into the text at once:
;(setq hashline-mode-open "apply")

(provide 'hashline-lsp-mode)
;;; hashline-lsp-mode.el ends here
