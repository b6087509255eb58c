# attack  02.1 an archive with absolute paths, paths with .., a Makefile, headers, a lab.json and checks
# hopes   one of them is unpacked outside the folder, is run, or replaces the grader's own
# stopped by only the unit names of lab.json are taken, and no name from the archive becomes a path
# earns   7
# verdict PASS
# words   ignored in
mkdir -p labs/02-backprop core grader
for f in ../minitorch-pwned Makefile core/base.h labs/02-backprop/lab.json grader/checks.c minitorch-pwned; do echo pwned >$f; done
printf 'all:\n\ttouch /tmp/minitorch-pwned\n' >Makefile
tar cPf ../s.tar ./*.c Makefile core labs grader ../minitorch-pwned
tar rPf ../s.tar --transform 's,^minitorch-pwned,/tmp/minitorch-pwned,' minitorch-pwned
tar rPf ../s.tar --transform 's,^minitorch-pwned,x/../../../linear.c,' minitorch-pwned
tar rPf ../s.tar --transform 's,^minitorch-pwned,../../grader/linear.c,' minitorch-pwned
rm -r ../minitorch-pwned minitorch-pwned
echo "$PWD/../s.tar"
