;; `mask` masks the matches of one rule in a text of ASCII: it looks for a character that every match has, sixteen bytes
;; together; goes back over what may stand before it in a match; and asks the rule's automaton from there.
;; `scan` finds the literals of many rules: see literal-index.ts.
;; `outline` finds where the matches of several expressions may be, by the characters that stand side by side in them.
;; `npm run wat` makes byte-masks-code.ts of it.
(module
  (memory (export "memory") 32)

  ;; How many matches the last call has masked.
  (global $count (export "count") (mut i32) (i32.const 0))

  ;; May write up to fifteen bytes more than `length`.
  (func $copy (param $from i32) (param $to i32) (param $length i32) (result i32)
    (local $at i32)
    (loop $next
      (v128.store
        (i32.add (local.get $to) (local.get $at))
        (v128.load (i32.add (local.get $from) (local.get $at))))
      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (br_if $next (i32.lt_u (local.get $at) (local.get $length))))
    (i32.add (local.get $to) (local.get $length)))

  ;; Where the match that begins at $start ends; 0 for none. $rule: see byte-rule.ts.
  (func $endOfMatch (param $rule i32) (param $from i32) (param $start i32) (result i32)
    (local $table i32)
    (local $entry i32)
    (local $at i32)
    (local $matched i32)
    (local.set $table (i32.load offset=24 (local.get $rule)))
    (local.set $entry (i32.load offset=16 (local.get $rule)))
    (if (i32.gt_u (local.get $start) (local.get $from))
      (then
        (if (i32.and (i32.const 2)
              (i32.load8_u offset=164
                (i32.add (local.get $rule) (i32.load8_u (i32.sub (local.get $start) (i32.const 1))))))
          (then (local.set $entry (i32.load offset=20 (local.get $rule)))))))
    (local.set $at (local.get $start))
    (loop $next
      ;; An entry: the offset of the next state's row, and one more if a match ends here. Both are even.
      (local.set $entry
        (i32.load16_u
          (i32.add
            (i32.add (local.get $table) (i32.and (local.get $entry) (i32.const 0xfffe)))
            (i32.load8_u offset=32 (i32.add (local.get $rule) (i32.load8_u (local.get $at)))))))
      (if (i32.and (local.get $entry) (i32.const 1))
        (then (local.set $matched (local.get $at))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $next (i32.gt_u (local.get $entry) (i32.const 1))))
    (select (local.get $matched) (i32.const 0) (i32.gt_u (local.get $matched) (local.get $start))))

  ;; Masks the text from $from to $end by a rule and writes it to $to, if it has a match. Returns where it ends there;
  ;; 0 if that would be after $limit. After the text stands 128 then, which takes the place of a character.
  (func (export "mask")
    (param $rule i32) (param $from i32) (param $end i32) (param $to i32) (param $limit i32)
    (result i32)
    (local $first v128)
    (local $min i32)
    (local $at i32)
    (local $hits i32)
    (local $copied i32)
    (local $lowest i32)
    (local $start i32)
    (local $last i32)
    (local $matched i32)
    (i32.store8 (local.get $end) (i32.const 128))
    (global.set $count (i32.const 0))
    (local.set $first (i8x16.splat (i32.load (local.get $rule))))
    (local.set $min (i32.load offset=4 (local.get $rule)))
    (local.set $copied (local.get $from))
    (local.set $at (i32.add (local.get $from) (local.get $min)))
    (block $done
      (loop $search
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $hits (i8x16.bitmask (i8x16.eq (v128.load (local.get $at)) (local.get $first))))
        (if (i32.eqz (local.get $hits))
          (then
            (local.set $at (i32.add (local.get $at) (i32.const 16)))
            (br $search)))
        (local.set $at (i32.add (local.get $at) (i32.ctz (local.get $hits))))
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))

        ;; Back over the run, no further than a match may reach.
        (local.set $lowest (i32.sub (local.get $at) (i32.load offset=8 (local.get $rule))))
        (if (i32.lt_s (local.get $lowest) (local.get $copied))
          (then (local.set $lowest (local.get $copied))))
        (local.set $start (local.get $at))
        (block $begin
          (loop $back
            (br_if $begin (i32.le_u (local.get $start) (local.get $lowest)))
            (br_if $begin
              (i32.eqz
                (i32.and (i32.const 1)
                  (i32.load8_u offset=164
                    (i32.add (local.get $rule) (i32.load8_u (i32.sub (local.get $start) (i32.const 1))))))))
            (local.set $start (i32.sub (local.get $start) (i32.const 1)))
            (br $back)))
        (local.set $last (i32.sub (local.get $at) (local.get $min)))
        (if (i32.eqz (i32.load offset=12 (local.get $rule)))
          (then
            (if (i32.lt_u (local.get $start) (local.get $last))
              (then (local.set $last (local.get $start))))))

        (block $none
          (loop $try
            (br_if $none (i32.gt_u (local.get $start) (local.get $last)))
            (local.set $matched
              (call $endOfMatch (local.get $rule) (local.get $from) (local.get $start)))
            (if (local.get $matched)
              (then
                (if (i32.gt_u
                      (i32.add
                        (i32.add (local.get $to) (i32.sub (local.get $start) (local.get $copied)))
                        (i32.load offset=28 (local.get $rule)))
                      (local.get $limit))
                  (then (return (i32.const 0))))
                (local.set $to
                  (call $copy (local.get $copied) (local.get $to) (i32.sub (local.get $start) (local.get $copied))))
                (local.set $to
                  (call $copy
                    (i32.add (local.get $rule) (i32.const 304))
                    (local.get $to)
                    (i32.load offset=28 (local.get $rule))))
                (local.set $copied (local.get $matched))
                (local.set $at (i32.add (local.get $matched) (local.get $min)))
                (global.set $count (i32.add (global.get $count) (i32.const 1)))
                (br $search)))
            (local.set $start (i32.add (local.get $start) (i32.const 1)))
            (br $try)))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br $search)))
    (if (i32.gt_u
          (i32.add (local.get $to) (i32.sub (local.get $end) (local.get $copied)))
          (local.get $limit))
      (then (return (i32.const 0))))
    (if (result i32) (global.get $count)
      (then (call $copy (local.get $copied) (local.get $to) (i32.sub (local.get $end) (local.get $copied))))
      (else (local.get $to))))

  ;; Writes to $hit which literals of a list start in front of $at, and where: what may follow a literal is looked at first, as
  ;; it rejects most. Returns where to write the next ones, which is never after $limit. $tables: see literal-tables.ts.
  (func $addLiterals
    (param $at i32) (param $from i32) (param $end i32) (param $tables i32) (param $number i32) (param $hit i32)
    (param $limit i32)
    (result i32)
    (local $list i32)
    (local $entry i32)
    (local $start i32)
    (local $after i32)
    (local $place i32)
    (local $literal i32)
    (local $unit i32)
    (local.set $list
      (i32.add
        (i32.add (local.get $tables) (i32.const 393216))
        (i32.shl (i32.load16_u (i32.add (local.get $tables) (local.get $number))) (i32.const 2))))
    (block $done
      (loop $next
        (local.set $entry (i32.load (local.get $list)))
        (br_if $done (i32.eqz (local.get $entry)))
        (local.set $list (i32.add (local.get $list) (i32.const 4)))
        (local.set $entry (i32.add (local.get $tables) (local.get $entry)))
        (local.set $start (i32.sub (local.get $at) (i32.load16_u offset=10 (local.get $entry))))
        (br_if $next (i32.lt_u (local.get $start) (local.get $from)))
        (local.set $after (i32.add (local.get $start) (i32.load16_u offset=8 (local.get $entry))))
        (br_if $next (i32.gt_u (local.get $after) (local.get $end)))
        (if (i32.load offset=4 (local.get $entry))
          (then
            (local.set $unit (i32.load8_u (local.get $after)))
            (br_if $next
              (i32.eqz
                (i32.and (i32.const 1)
                  (i32.shr_u
                    (i32.load8_u
                      (i32.add
                        (i32.add (local.get $tables) (i32.load offset=4 (local.get $entry)))
                        (i32.shr_u (local.get $unit) (i32.const 3))))
                    (i32.and (local.get $unit) (i32.const 7))))))))
        (local.set $literal (i32.add (local.get $tables) (i32.load (local.get $entry))))
        (local.set $place (local.get $start))
        (loop $same
          (local.set $unit (i32.load8_u (local.get $place)))
          (if (i32.lt_u (i32.sub (local.get $unit) (i32.const 0x41)) (i32.const 26))
            (then (local.set $unit (i32.add (local.get $unit) (i32.const 0x20)))))
          (br_if $next (i32.ne (local.get $unit) (i32.load8_u (local.get $literal))))
          (local.set $literal (i32.add (local.get $literal) (i32.const 1)))
          (local.set $place (i32.add (local.get $place) (i32.const 1)))
          (br_if $same (i32.lt_u (local.get $place) (local.get $after))))
        (br_if $done (i32.ge_u (local.get $hit) (local.get $limit)))
        (i32.store (local.get $hit) (i32.sub (local.get $start) (local.get $from)))
        (i32.store offset=4 (local.get $hit) (i32.load offset=12 (local.get $entry)))
        (local.set $hit (i32.add (local.get $hit) (i32.const 8)))
        (br $next)))
    (local.get $hit))

  ;; Writes to $hits where literals start and which ones, in the order of the three, four or six characters that they are found
  ;; by. Returns how many there are, no more than there is room before $limit. Reads up to seven bytes after $end. The tables
  ;; begin with a bit for the upper 19 bits of each hash of three, four and six characters, and the numbers of lists for the
  ;; upper 15 bits: see literal-tables.ts.
  (func (export "scan")
    (param $from i32) (param $end i32) (param $tables i32) (param $hits i32) (param $limit i32)
    (result i32)
    (local $bytes i64)
    (local $at i32)
    (local $hit i32)
    (local $three i32)
    (local $four i32)
    (local $six i32)
    (local $isThree i32)
    (local $isFour i32)
    (local $isSix i32)
    (local.set $at (local.get $from))
    (local.set $hit (local.get $hits))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $bytes (i64.or (i64.load (local.get $at)) (i64.const 0x2020202020202020)))
        (local.set $four (i32.mul (i32.wrap_i64 (local.get $bytes)) (i32.const 0x9e3779b1)))
        (local.set $three
          (i32.mul (i32.and (i32.wrap_i64 (local.get $bytes)) (i32.const 0xffffff)) (i32.const 0x9e3779b1)))
        (local.set $six
          (i32.add (local.get $four)
            (i32.mul
              (i32.and (i32.wrap_i64 (i64.shr_u (local.get $bytes) (i64.const 32))) (i32.const 0xffff))
              (i32.const 0x85ebca6b))))
        (local.set $isThree
          (i32.shr_u
            (i32.load8_u (i32.add (local.get $tables) (i32.shr_u (local.get $three) (i32.const 16))))
            (i32.and (i32.shr_u (local.get $three) (i32.const 13)) (i32.const 7))))
        (local.set $isFour
          (i32.shr_u
            (i32.load8_u offset=65536 (i32.add (local.get $tables) (i32.shr_u (local.get $four) (i32.const 16))))
            (i32.and (i32.shr_u (local.get $four) (i32.const 13)) (i32.const 7))))
        (local.set $isSix
          (i32.shr_u
            (i32.load8_u offset=131072 (i32.add (local.get $tables) (i32.shr_u (local.get $six) (i32.const 16))))
            (i32.and (i32.shr_u (local.get $six) (i32.const 13)) (i32.const 7))))
        (if (i32.and (i32.const 1) (i32.or (i32.or (local.get $isThree) (local.get $isFour)) (local.get $isSix)))
          (then
            (if (i32.and (i32.const 1) (local.get $isSix))
              (then
                (local.set $hit
                  (call $addLiterals (local.get $at) (local.get $from) (local.get $end) (local.get $tables)
                    (i32.add (i32.const 327680)
                      (i32.and (i32.shr_u (local.get $six) (i32.const 16)) (i32.const 0xfffe)))
                    (local.get $hit) (local.get $limit)))))
            (if (i32.and (i32.const 1) (local.get $isFour))
              (then
                (local.set $hit
                  (call $addLiterals (local.get $at) (local.get $from) (local.get $end) (local.get $tables)
                    (i32.add (i32.const 262144)
                      (i32.and (i32.shr_u (local.get $four) (i32.const 16)) (i32.const 0xfffe)))
                    (local.get $hit) (local.get $limit)))))
            (if (i32.and (i32.const 1) (local.get $isThree))
              (then
                (local.set $hit
                  (call $addLiterals (local.get $at) (local.get $from) (local.get $end) (local.get $tables)
                    (i32.add (i32.const 196608)
                      (i32.and (i32.shr_u (local.get $three) (i32.const 16)) (i32.const 0xfffe)))
                    (local.get $hit) (local.get $limit)))))))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br $next)))
    (i32.shr_u (i32.sub (local.get $hit) (local.get $hits)) (i32.const 3)))

  ;; Writes to $hits where outlines are complete, and at which of their steps, 32 bytes each: after the place, 16 bytes have the
  ;; steps. Returns how many there are, no more than there is room before $limit. The text is of ASCII. Each bit of a vector is a
  ;; step of an outline, which is set if the text up to here can be that of the outline up to the step. $vector: see
  ;; outline-vectors.ts. What may be absent is skipped by a subtraction, which sets all bits of such a run above the lowest one.
  (func (export "outline")
    (param $from i32) (param $end i32) (param $vector i32) (param $hits i32) (param $limit i32)
    (result i32)
    (local $at i32)
    (local $unit i32)
    (local $hit i32)
    (local $steps v128)
    (local $known v128)
    (local $complete v128)
    (local $starts v128)
    (local $repeated v128)
    (local $optional v128)
    (local $before v128)
    (local $last v128)
    (local $ends v128)
    (local.set $starts (v128.load offset=2048 (local.get $vector)))
    (local.set $repeated (v128.load offset=2064 (local.get $vector)))
    (local.set $optional (v128.load offset=2080 (local.get $vector)))
    (local.set $before (v128.load offset=2096 (local.get $vector)))
    (local.set $last (v128.load offset=2112 (local.get $vector)))
    (local.set $ends (v128.load offset=2128 (local.get $vector)))
    (local.set $at (local.get $from))
    (local.set $hit (local.get $hits))
    ;; The first line stands after an LF too.
    (local.set $unit (i32.const 10))
    (block $done
      (loop $next
        (local.set $steps
          (v128.and
            (v128.load (i32.add (local.get $vector) (i32.shl (local.get $unit) (i32.const 4))))
            (v128.or
              (v128.or (i64x2.shl (local.get $steps) (i32.const 1)) (local.get $starts))
              (v128.and (local.get $steps) (local.get $repeated)))))
        (local.set $known (v128.or (local.get $steps) (local.get $last)))
        (local.set $steps
          (v128.or (local.get $steps)
            (v128.andnot (local.get $optional)
              (v128.xor (local.get $known) (i64x2.sub (local.get $known) (local.get $before))))))
        (local.set $complete (v128.and (local.get $steps) (local.get $ends)))
        (if (v128.any_true (local.get $complete))
          (then
            (br_if $done (i32.ge_u (local.get $hit) (local.get $limit)))
            (i32.store (local.get $hit) (i32.sub (i32.sub (local.get $at) (i32.const 1)) (local.get $from)))
            (v128.store offset=16 (local.get $hit) (local.get $complete))
            (local.set $hit (i32.add (local.get $hit) (i32.const 32)))))
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $unit (i32.load8_u (local.get $at)))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br $next)))
    (i32.shr_u (i32.sub (local.get $hit) (local.get $hits)) (i32.const 5))))
