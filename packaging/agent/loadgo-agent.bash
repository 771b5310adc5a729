# Lets bash complete loadgo-agent: its commands, their options and values, and the command that it runs.
_loadgo_agent() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} offered= index
    COMPREPLY=()
    for ((index = 2; index < COMP_CWORD; index++)); do
        if [[ ${COMP_WORDS[index]} == -- ]]; then
            ((index == COMP_CWORD - 1)) && mapfile -t COMPREPLY < <(compgen -c -- "$word")
            return
        fi
    done
    if ((COMP_CWORD == 1)); then
        offered="ready meter doctor version clear help"
    else
        case ${COMP_WORDS[1]} in
        ready) offered="-n --quiet-output --" ;;
        meter) offered="--for --meters --" ;;
        doctor) offered="--full" ;;
        esac
        case $before in
        --meters) offered="none cheap cheap,locks cheap,profile sampled exact" ;;
        --for) offered="10s 1min" ;;
        -n) offered="" ;;
        esac
    fi
    mapfile -t COMPREPLY < <(compgen -W "$offered" -- "$word")
}
complete -o default -F _loadgo_agent loadgo-agent
