# Stands for a program: USER SYSTEM FAULTS PAGES PROCESSES WAITING [READ WRITTEN STORAGE_READ STORAGE_WRITTEN], in seconds,
# counts and bytes. Without processor time it runs that many short processes, of which it is one, and waits: Python alone
# would use a hundredth of a second. Some of these processes move bytes: all those of storage, and blocks of the others.
move() {
    left=$((left - 1))
    dd bs=65536 status=none "$@"
}
case "${1:-0} ${2:-0}" in
"0 0")
    left=${5:-1} waiting=${6:-0} from_storage=${9:-0} to_storage=${10:-0} status=0
    if [ "$from_storage" -gt 0 ]; then
        [ -s stand-in.read ] || sh stand-in.sh prepare 16777216 || exit
        if [ "$waiting" != 0 ]; then # the wait for the storage is a part of it
            trap 'kill $!; exit 130' HUP INT TERM
            sleep "$waiting" &
            waiting=0 left=$((left - 1))
        fi
        # Not every file system has direct reads: they pass the page cache by.
        move if=stand-in.read of=/dev/null iflag=direct,count_bytes count="$from_storage" 2>/dev/null ||
            move if=stand-in.read of=/dev/null iflag=count_bytes count="$from_storage" || status=1
    fi
    if [ "$to_storage" -gt 0 ]; then
        move if=/dev/zero of=stand-in.written iflag=count_bytes count="$to_storage" oflag=append conv=notrunc || status=1
        # The file begins anew from 64 MB on. Few runs of few bytes look at it.
        if [ "$to_storage" -ge 65536 ] || [ $(($$ % 16)) = 0 ]; then
            [ -z "$(find stand-in.written -size +65536k)" ] || { sync stand-in.written && : >stand-in.written; }
        fi
    fi
    both=$(((${8:-0} - from_storage) / 65536)) # blocks that are left to be written; as many are read
    more=$(((${7:-0} - from_storage - to_storage) / 65536 - (both > 0 ? both : 0)))
    [ "$both" -le 0 ] || move if=/dev/zero of=/dev/null count="$both"
    [ "$more" -le 0 ] || move if=/dev/zero of=/dev/null count="$more" conv=sparse # zeros are not written
    while [ "$left" -gt 1 ]; do
        /bin/true
        left=$((left - 1))
    done
    wait
    [ "$waiting" = 0 ] || exec sleep "$waiting"
    exit "$status"
    ;;
esac
python=/usr/bin/python3
[ -x "$python" ] || python=python3
exec "$python" -IS stand_in.py "$@"
