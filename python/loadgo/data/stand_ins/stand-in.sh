# Stands for a program: USER SYSTEM FAULTS PAGES PROCESSES WAITING, in seconds and counts. Without processor time it runs
# that many short processes, of which it is one, and waits: Python alone would use a hundredth of a second.
case "${1:-0} ${2:-0}" in
"0 0")
    left=${5:-1}
    while [ "$left" -gt 1 ]; do
        /bin/true
        left=$((left - 1))
    done
    [ "${6:-0}" = 0 ] || exec sleep "$6"
    exit 0
    ;;
esac
python=/usr/bin/python3
[ -x "$python" ] || python=python3
exec "$python" -IS stand_in.py "$@"
