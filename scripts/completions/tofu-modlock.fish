# Completion of tofu-modlock for fish. Printed by `tofu-modlock completion fish`.
function __tofu_modlock_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l found ($words[1] complete $words[2..-1] 2>/dev/null)
    set -l assigned (string match -r -- '^--[^=]*=' $words[-1])
    switch "$found[1]"
        case :files
            string replace -r -- '^' "$assigned" (__fish_complete_path (string replace -- "$assigned" '' $words[-1]))
        case :directories
            string replace -r -- '^' "$assigned" (__fish_complete_directories (string replace -- "$assigned" '' $words[-1]) '')
        case '*'
            printf '%s\n' $found
    end
end
complete -c tofu-modlock -f -a '(__tofu_modlock_complete)'
