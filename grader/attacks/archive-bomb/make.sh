# attack  02.1 an archive that is 1100 MiB unpacked
# hopes   to fill the disk or the memory
# stopped by 1 GiB unpacked at most; parsed in a child without root, with limits of time, memory and file size
# earns   0
# verdict REFUSED
# words   more than 1 GiB unpacked
truncate -s 1100M a-bomb
tar cf - a-bomb ./*.c | gzip -1 >../s.tar.gz
rm a-bomb
echo "$PWD/../s.tar.gz"
