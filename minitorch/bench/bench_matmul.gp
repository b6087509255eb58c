# bench_matmul.gp -- build/bench/matmul.csv as a picture: each shape's ratio to OpenBLAS, at one thread and at two.
set terminal svg size 900,420 font "DejaVu Sans,11" background "white"
set output "build/bench/matmul.svg"
set datafile separator ","
set title "bench_matmul: our product beside the better OpenBLAS (1 = equal)" noenhanced
set ylabel "ratio"
set yrange [0:*]
set xtics rotate by 45 right font ",8"
set grid ytics lc rgb "#dddddd"
set key top left
set style fill solid 0.85 border -1
set boxwidth 0.4
plot "< grep ^packed,1 build/bench/matmul.csv" using ($0 - 0.2):8:xtic(stringcolumn(3)." ".stringcolumn(4)."x".stringcolumn(5)."x".stringcolumn(6)) \
         with boxes lc rgb "#1f5fa8" title "1 thread", \
     "< grep ^parallel, build/bench/matmul.csv" using ($0 + 0.2):8 with boxes lc rgb "#6fa8dc" title "all threads", \
     1 with lines lc rgb "#b03a2e" notitle
