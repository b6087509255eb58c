# attack  02.1 right, with 40,000 more functions and one whose name is a mebibyte
# hopes   what the tools print about the object is cut off before the symbol that is refused (system)
# stopped by what cannot be examined is refused
# earns   0
# verdict FAIL
{
    for ((i = 0; i < 40000; i++)); do echo "void f$i(void); void f$i(void) {}"; done
    printf 'void %s(void);\n' "$(head -c 1048576 /dev/zero | tr '\0' x)"
    echo 'int system(const char *); void zz(void); void zz(void) { system("echo BREACH"); }'
} >>linear.c
