# fish completion for lumeq. `lumeq --complete` prints the candidates.
function __lumeq_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l value (string replace -r '^--[^=]*=' '' -- "$current")
    set -l option (string match -r '^--[^=]*=' -- "$current")
    for line in ($words[1] --complete $words[2..-1] "$current" 2>/dev/null)
        switch $line
            case :file
                string replace -r '^' "$option" -- (__fish_complete_path "$value")
            case :folder
                string replace -r '^' "$option" -- (__fish_complete_directories "$value")
            case '*'
                echo "$option$line"
        end
    end
end
complete -c lumeq -f -a '(__lumeq_complete)'
