# assembly.sh -- assembly_of OBJECT: a C file with one asm statement that assembles to the sections, relocations and symbols of OBJECT.

listing_of() {
    local object=$1 scratch section flags
    scratch=$(mktemp -p .)
    objdump -hw "$object" | awk '/ALLOC/ && $2 !~ /eh_frame|note|init_array/ { print $2, /CODE/ ? "ax" : /READONLY/ ? "a" : "aw" }' |
        while read -r section flags; do
            echo ".section $section,\"$flags\",@progbits"
            echo ".balign 64"
            echo ".Lbegin$section:"
            objcopy -O binary --only-section="$section" --set-section-flags "$section=alloc,load,contents" "$object" "$scratch"
            od -An -v -tx1 -w16 "$scratch" | sed 's/ \(..\)/,0x\1/g; s/^,/.byte /'
            objdump -rj "$section" "$object" | awk -v here="$section" '$2 ~ /^R_X86_64/ {
                if ($3 ~ /^\./) sub(/^\.[a-z0-9_.]*/, ".Lbegin&", $3)
                print ".reloc .Lbegin" here "+0x" $1 ", " $2 ", " $3
            }'
        done
    rm -f "$scratch"
    objdump -t "$object" | awk '$2 == "g" { print ".globl " $NF "\n.type " $NF ",@function\n.set " $NF ", .Lbegin" $4 "+0x" $1 }'
    echo .text
}

assembly_of() {
    echo '__asm__('
    listing_of "$1" | sed 's/"/\\"/g; s/^/"/; s/$/\\n"/'
    echo ');'
}
