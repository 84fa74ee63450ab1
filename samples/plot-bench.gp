# Plots time against the number of samples, with a line for each strategy and device.
#
#   lumeq-bench histogram --size 32x32,128x128,512x512,2048x2048,8192x8192 --csv > sizes.csv
#   gnuplot -e "csv='sizes.csv'; out='sizes'" samples/plot-bench.gp
#
# writes sizes-time.svg and sizes-time.png.

if (!exists("csv")) csv = "sizes.csv"
if (!exists("out")) out = "sizes"

# Names STRATEGY/DEVICE, in file order.
series = system(sprintf("awk -F, 'NR > 1 && !seen[$1 $2]++ { print $1 \"/\" $2 }' '%s'", csv))
rows_of(name) = sprintf("< awk -F, 'NR == 1 || $1 \"/\" $2 == \"%s\"' '%s'", name, csv)
strategy(name) = name[:strstrt(name, "/") - 1]
device(name) = name[strstrt(name, "/") + 1:]
title_of(name) = strategy(name) . (device(name) eq "CPU" ? "" : ", GPU " . device(name))
array colours[8] = ["#0072b2", "#d55e00", "#009e73", "#aa3377", "#b8860b", "#56b4e9", "#444444", "#882255"]

set datafile separator ","
set key outside right center vertical maxrows 100 noenhanced
set grid
set logscale xy
set logscale x 2
set format x "2^{%L}"
set xlabel "elements"
set ylabel "time, µs"
set style data linespoints
set pointsize 0.6

do for [type in "svg png"] {
    if (type eq "svg") {
        set terminal svg size 1100, 600 background "white" dynamic
    } else {
        set terminal pngcairo size 1100, 600 background "white"
    }
    set output sprintf("%s-time.%s", out, type)
    # lumeq's line is the thick one
    plot for [i = 1:words(series)] rows_of(word(series, i)) using "elements":"time_us" \
        linecolor rgb colours[(i - 1) % 8 + 1] linewidth strategy(word(series, i)) eq "lumeq" ? 3 : 1 \
        pointtype i % 14 + 1 title title_of(word(series, i))
    unset output
}
