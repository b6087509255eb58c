# attack  02.1 an archive of 20,000 empty files, with the unit at the end
# hopes   to fill the table of files of the disk, or to keep the grader busy
# stopped by 10,000 entries at most; nothing but units is written
# earns   0
# verdict REFUSED
# words   more than 10000 files
python3 - <<'PY'
import tarfile
with tarfile.open("many.tar.gz", "w:gz", compresslevel=1) as tar:
    for i in range(20000):
        tar.addfile(tarfile.TarInfo("d/%d.c" % i))
    tar.add("linear.c")
PY
echo "$PWD/many.tar.gz"
