;; `mask` masks the matches of one rule in a text of ASCII: it looks for a character that every match has, sixteen bytes
;; together; goes back over what may stand before it in a match; and asks the rule's automaton from there.
;; `scan` looks for literals of many rules: see literal-index.ts.
;; `npm run wat` makes byte-masks-code.ts of it.
(module
  (memory (export "memory") 16)

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

  ;; Writes to $hits the positions at which three, four or six characters stand that are in the table of as many, in either
  ;; case. Returns how many there are. Reads up to seven bytes after $end, and writes four after the hits. A table has a bit
  ;; for the upper 19 bits of a hash.
  (func (export "scan")
    (param $at i32) (param $end i32) (param $threes i32) (param $fours i32) (param $sixes i32) (param $hits i32)
    (result i32)
    (local $bytes i64)
    (local $hit i32)
    (local $start i32)
    (local $three i32)
    (local $four i32)
    (local $six i32)
    (local.set $start (local.get $at))
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
        (i32.store (local.get $hit) (i32.sub (local.get $at) (local.get $start)))
        (local.set $hit
          (i32.add (local.get $hit)
            (i32.shl
              (i32.and (i32.const 1)
                (i32.or
                  (i32.or
                    (i32.shr_u
                      (i32.load8_u (i32.add (local.get $threes) (i32.shr_u (local.get $three) (i32.const 16))))
                      (i32.and (i32.shr_u (local.get $three) (i32.const 13)) (i32.const 7)))
                    (i32.shr_u
                      (i32.load8_u (i32.add (local.get $fours) (i32.shr_u (local.get $four) (i32.const 16))))
                      (i32.and (i32.shr_u (local.get $four) (i32.const 13)) (i32.const 7))))
                  (i32.shr_u
                    (i32.load8_u (i32.add (local.get $sixes) (i32.shr_u (local.get $six) (i32.const 16))))
                    (i32.and (i32.shr_u (local.get $six) (i32.const 13)) (i32.const 7)))))
              (i32.const 2))))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br $next)))
    (i32.shr_u (i32.sub (local.get $hit) (local.get $hits)) (i32.const 2))))
