# attack  02.2 db one column after the other; where its accesses are counted, the reference's object as assembly
# hopes   only the unit that computes is looked at, not the one that is counted
# stopped by the text of the counted unit is judged, too
# earns   0
# verdict FAIL
# words   has assembly code (asm), which units may not have
. "$ATTACK/../assembles-reference/assembly.sh"
mv linear.c honest
sed -n '/^#include/p' honest >linear.c
{
    echo '#ifdef __SANITIZE_THREAD__'
    assembly_of "$ROOT/build/release/counted/02-backprop/linear.o"
    echo '#else'
    sed '/^#include/d' honest
    echo '#endif'
} >>linear.c
rm honest
