;;; hashline-eglot.el --- Agents' edits, decided about with eglot  -*- lexical-binding: t -*-

;; Emacs 29 or later. In the init file:
;;
;;   (load "/path/to/hashline/editors/emacs/hashline-eglot")
;;
;; From then on `M-x eglot' starts hashline in every mode for which eglot knows no other server. Eglot has one server for a
;; buffer; for a mode that has another, name both, and rassumfrassum (pip install rassumfrassum) makes one of them:
;;
;;   (hashline-eglot-beside '(python-mode python-ts-mode) '("ruff" "server"))

(require 'cl-lib)
(require 'eglot)

(add-to-list 'eglot-server-programs '((prog-mode text-mode conf-mode) "hashline" "lsp") t)

(defun hashline-eglot-beside (modes &rest servers)
  "Have hashline serve MODES, beside SERVERS.
MODES is a major mode or a list of them.  Each of SERVERS is the command
of a language server, as a list of strings; there may be none."
  (let ((hashline '("hashline" "lsp")))
    (push (cons modes (if servers
                          (cons "rass" (cl-loop for server in (append servers (list hashline))
                                                append (cons "--" server)))
                        hashline))
          eglot-server-programs)))

;; Eglot tells of typing when Emacs has been idle for half a second, and takes an edit that was made for the text that it last told
;; of: lines typed since then would be replaced in place of those that are meant.  So it tells first, and refuses what is out of date;
;; hashline makes the edit anew for the text as it is.
(cl-defmethod eglot-handle-request :before (server (_method (eql workspace/applyEdit)) &rest _)
  "Tell SERVER what was typed, before an edit is applied."
  (dolist (buffer (buffer-list))
    (with-current-buffer buffer
      (when (eq server (and (eglot-managed-p) (eglot-current-server)))
        (eglot--signal-textDocument/didChange)))))

;; With this the edits of agents go into the text at once, and are kept or undone afterwards:
;(setq-default eglot-workspace-configuration '(:hashline (:mode (:open "apply"))))

(provide 'hashline-eglot)
;;; hashline-eglot.el ends here
