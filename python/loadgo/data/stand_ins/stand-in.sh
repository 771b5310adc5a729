# Stands for a program: USER SYSTEM FAULTS PAGES PROCESSES WAITING, in seconds and counts. Without processor time, which
# accounting has in hundredths of a second, it only waits: Python alone would use one of these.
case "${1:-0} ${2:-0}" in
"0 0")
    [ "${6:-0}" = 0 ] || exec sleep "$6"
    exit 0
    ;;
esac
python=/usr/bin/python3
[ -x "$python" ] || python=python3
exec "$python" -IS stand_in.py "$@"
