# Kakoune beside hashline, by kakoune-lsp. In your kakrc, between kakoune-lsp and what enables it:
#
#   eval %sh{kak-lsp}
#   source /path/to/hashline/editors/kakoune/hashline.kak
#   lsp-enable
#   lsp-inlay-diagnostics-enable global    # what agents propose, behind the line
#
# hashline is added to the servers that kakoune-lsp has for the file's type, or serves it by itself where there are none. Not where lines
# end as on Windows: of such files kakoune-lsp tells one text, and edits another.

# kakoune-lsp starts the servers that it names, and knows no other for the file from then on: it has to wait for ours.
hook -group hashline global BufSetOption filetype=.* %{
    lsp-if-no-servers lsp-block-in-buffer
}

hook -group hashline global User LSPDefaultConfig=.* %{
    # It also leaves a file alone as soon as one of its servers is not installed: hashline then serves it by itself.
    evaluate-commands %sh{
        printf '%s\n' "$kak_opt_lsp_servers" | awk -F '"' '
            /^[ \t]*\[[^].]+\][ \t]*$/ { name = $0; gsub(/[][ \t]/, "", name); programs[name] = name }
            /^[ \t]*command[ \t]*=/ { programs[name] = $2 }
            END { for (name in programs) print programs[name] }
        ' | while read -r program; do
            command -v "$program" >/dev/null && continue
            echo 'set-option buffer lsp_servers ""'
            printf 'echo -debug hashline: %s is not installed, and left out\n' "$program"
        done
        echo lsp-unblock-in-buffer
        if [ "$kak_opt_eolformat" = lf ]; then
            echo hashline-add
        else
            echo 'echo -debug hashline: left out, as lines end with CRLF'
        fi
    }
}

define-command -hidden hashline-add %{
    set-option -add buffer lsp_servers %{
        [hashline]
        args = ["lsp"]
        root_globs = [".git", ".hg"]
    }
}
