# attack  02.1 an archive that is 300 MiB unpacked
# hopes   to fill the disk or the memory
# stopped by 256 MiB unpacked at most; parsed in a child without root, with limits of time, memory and file size
# earns   0
# verdict REFUSED
# words   more than 256 MiB unpacked
head -c 300M /dev/zero >a-bomb
tar cf - a-bomb ./*.c | gzip -1 >../s.tar.gz
rm a-bomb
echo "$PWD/../s.tar.gz"
