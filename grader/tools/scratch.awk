# scratch.awk -- a unit to be written from scratch, made of its skeleton (strip.c): the top comment, the includes, and each function of its headers with an empty body.
#
# What stands in a file's outermost level is read as items: a comment, a preprocessor line, a declaration, a function. A function that is not static and reaches a step, in its own lines or in a static
# function that it calls or that stands before it, keeps its head; its body says which steps it reaches, and MT_TODO of the first. One that reaches no step is given: it stays, with the static functions, types and constants that it names.
function end_item() { if (text != "") { item[++items] = text; kind[items] = type } text = "" }
# The word before the first parenthesis of a function's head, or the names that a declaration defines.
function names_of(k,    head, n, word, i, found) {
    head = item[k]
    if (kind[k] == "function") {
        sub(/\n\{.*/, "", head)
        if (match(head, /[A-Za-z_0-9]+\(/)) return " " substr(head, RSTART, RLENGTH - 1) " "
    }
    gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, " ", head)
    if (kind[k] == "define") { split(head, word, /[ (]+/); return " " word[2] " " }
    n = split(head, word, /[^A-Za-z_0-9]+/)
    for (i = 1; i <= n; i++) if (word[i] != "") found = found " " word[i]
    return found " "
}
# Whether item a names item b, by a word that is b's own: no other item's head has it first.
function uses(a, b) { return (" " words[a] " ") ~ (" " main_name[b] " ") }
function called(b,    a) { for (a = 1; a <= items; a++) if (a != b && uses(a, b)) return 1; return 0 } # by what the skeleton shows
function tokens(s) { gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, " ", s); gsub(/"([^"\\]|\\.)*"/, " ", s); gsub(/[^A-Za-z_0-9]+/, " ", s); return s }
function reach(k,    i, n, part) {
    if (k in seen) return
    seen[k] = 1
    n = split(item[k], part, "MT_TODO\\(\"")
    for (i = 2; i <= n; i++) { sub(/".*/, "", part[i]); if (!(part[i] in steps)) { steps[part[i]] = 1; reached[++reaches] = part[i] } }
    for (i = 1; i <= items; i++) if (i != k && local[i] && uses(k, i)) reach(i)
}
function begin() { split("", seen); split("", steps); reaches = 0 }
# The lines of an empty body: the steps that the function reaches, in their order, and MT_TODO of the first.
function todo(    i, j, hold, list) {
    for (i = 1; i <= reaches; i++)
        for (j = i + 1; j <= reaches; j++)
            if (substr(reached[j], 4) + 0 < substr(reached[i], 4) + 0) { hold = reached[i]; reached[i] = reached[j]; reached[j] = hold }
    for (i = 1; i <= reaches; i++) list = list (i > 1 ? ", " : "") reached[i]
    return reaches == 0 ? "" : (reaches > 1 ? "    /* steps " list " */\n" : "") "    MT_TODO(\"" reached[1] "\"); /* delete this line when yours stands here */"
}
{
    if (text == "" && /^ *$/) { blank[items + 1] = 1; next }
    if (text == "") {
        type = /^#define/ ? "define" : /^#/ ? "include" : /^\/\*/ ? "comment" : "declaration"
        open_brace = 0
    }
    text = text (text == "" ? "" : "\n") $0
    if (type == "comment") { if (/\*\/ *$/) end_item(); next }
    if (type == "define" || type == "include") { if (!/\\$/) end_item(); next }
    if (type == "declaration" && /^[A-Z_]+\(.*\)$/) { end_item(); next } # MACRO(name, ...) defines a function of this name
    if (/^\{$/) { type = "function" }
    if (type == "function") { if (/^\}/) end_item() }
    else if (/;( *\/\*.*\*\/)?$/ && (/^[^ ]/) || /^\}.*;/) end_item()
    else if (/\{.*\}.*;( *\/\*.*)?$/ && /^[^ ]/) end_item()
    else if (/^ .*\);$/ && text !~ /\{/) end_item() # a prototype over several lines
    else if (/^ .*\};$/ && text !~ /\n\}/) end_item()
}
END {
    end_item()
    for (k = 1; k <= items; k++) {
        words[k] = tokens(item[k])
        if (kind[k] == "function") { n = names_of(k); gsub(/ /, "", n); main_name[k] = n }
        else if (kind[k] == "define") { n = names_of(k); gsub(/ /, "", n); main_name[k] = n }
        else if (kind[k] == "declaration") { # typedef ... name; struct name {...}; static type name[] = ...; enum { A = 1, ... }
            d = item[k]; gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, " ", d)
            if (d ~ /^enum *\{/) { e = d; sub(/^enum *\{/, "", e); sub(/\}.*/, "", e); gsub(/=[^,]*/, "", e); gsub(/[^A-Za-z_0-9,]/, "", e); gsub(/,/, "|", e); sub(/\|$/, "", e); main_name[k] = "(" e ")" }
            else if (d ~ /^typedef/) { sub(/; *$/, "", d); if (d ~ /\)\(|[A-Za-z_0-9]+\(/ && d !~ /\}/) { match(d, /[A-Za-z_0-9]+\)?\(/); d = substr(d, RSTART, RLENGTH); gsub(/[()]/, "", d) } else sub(/.*[^A-Za-z_0-9]/, "", d); main_name[k] = d }
            else if (d ~ /^struct [A-Za-z_0-9]+ *\{/) { sub(/^struct /, "", d); sub(/[^A-Za-z_0-9].*/, "", d); main_name[k] = d }
            else if (d ~ /^[A-Z_]+\(/) { sub(/^[A-Z_]+\(/, "", d); sub(/[^A-Za-z_0-9].*/, "", d); main_name[k] = d }
            else { sub(/[=;\[(].*/, "", d); sub(/ +$/, "", d); sub(/.*[^A-Za-z_0-9]/, "", d); main_name[k] = d }
        }
        local[k] = main_name[k] != "" && (kind[k] != "function" || item[k] ~ /^(MT_[A-Z]+ )?static /)
        public[k] = kind[k] == "function" && !local[k]
    }
    for (k = 1; k <= items; k++) if (public[k]) {
        begin(); reach(k)
        for (i = k - 1; i > 0 && !public[i]; i--) # called by what the skeleton leaves out: a helper stands before its user
            if (kind[i] == "function" && item[i] ~ /MT_TODO/ && !called(i)) reach(i)
        step[k] = todo()
        if (step[k] == "") for (i in seen) keep[i] = 1
        else { # the types in its head
            h = item[k]; sub(/\n\{.*/, "", h); words[k] = tokens(h)
            begin(); hold = item[k]; item[k] = h; reach(k); item[k] = hold
            for (i in seen) if (kind[i] != "function") keep[i] = 1
        }
    }
    for (k = 1; k <= items; k++) {
        if (k == 1 && kind[k] == "comment" || kind[k] == "include") out = item[k]
        else if (public[k] && step[k] != "") {
            out = item[k]; sub(/\n\{.*/, "", out)
            out = out "\n{\n" step[k] "\n}"
        }
        else if (keep[k]) out = (kind[k - 1] == "comment" && k > 2 ? item[k - 1] "\n" : "") item[k]
        else continue
        print (printed && (kind[k] != "include" || blank[k]) ? "\n" : "") out
        printed = 1
    }
}
