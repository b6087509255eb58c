# attack  01.1 every sum in half precision
# hopes   the tolerance allows it, at least where K is small
# stopped by tolerances from the type and the length of the sum
# earns   0
# verdict FAIL
sed -i 's/float sum = 0;/_Float16 sum = 0;/; s/sum += p.a.at/sum += (_Float16)p.a.at/' loops.c
grep -q '_Float16 sum' loops.c || exit 1
