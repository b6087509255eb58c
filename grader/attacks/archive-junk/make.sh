# attack  02.1 an invalid archive: a valid header, then random bytes
# hopes   to crash the parser
# stopped by parsed in a child; the compiler gets what was read
# earns   0
# verdict FAIL
# words   linear.c does not build
tar cf ../s.tar ./*.c
{ head -c 700 ../s.tar && head -c 100000 "$(command -v bash)"; } >../s && mv ../s ../s.tar
echo "$PWD/../s.tar"
