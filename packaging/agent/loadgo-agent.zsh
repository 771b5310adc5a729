#compdef loadgo-agent
# Lets zsh complete loadgo-agent: its commands, their options and values, and the command that it runs.
_loadgo-agent() {
    local -a commands=(
        'ready:what a command used'
        'meter:where the processor time of this host goes'
        'doctor:what can be measured here'
        'version:prints the version'
        'clear:undoes what killed agents have left'
        'help:prints the usage'
    )
    if ((CURRENT == 2)); then
        _describe command commands
        return
    fi
    local command=$words[2]
    shift words
    ((CURRENT--))
    case $command in
    ready) _arguments '-n[medians of so many runs]:runs' '--quiet-output[discards what the command prints]' '*::command:_normal' ;;
    meter) _arguments '--for[how long]:time:(10s 1min)' '--meters[which meters]:tier:(none cheap cheap,locks cheap,profile sampled exact)' '*::command:_normal' ;;
    doctor) _arguments '--full[of each ability how]' ;;
    esac
}
[ "${funcstack[1]}" = _loadgo-agent ] && _loadgo-agent "$@" || compdef _loadgo-agent loadgo-agent
