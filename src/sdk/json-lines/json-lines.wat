;; Writes lines as JSON documents: sixteen bytes are looked at together, and copied as they stand up to the first one
;; that JSON escapes or that ends the line. `npm run wat` makes json-lines-code.ts of it.
(module
  (memory (export "memory") 8)

  ;; How much of the source the last call has read: to where.
  (global $read (export "read") (mut i32) (i32.const 0))

  ;; Eight bytes for each byte below 128, at the begin of the memory: what JSON writes for it, and in the last of them
  ;; how long that is.
  (func $escape (param $byte i32) (param $to i32) (result i32)
    (local $entry i64)
    (local.set $entry (i64.load (i32.shl (local.get $byte) (i32.const 3))))
    (i64.store (local.get $to) (local.get $entry))
    (i32.add (local.get $to) (i32.wrap_i64 (i64.shr_u (local.get $entry) (i64.const 56)))))

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

  ;; Writes the bytes from $from to $end, with $length bytes of $between in place of each line feed, until all are
  ;; written or the next begins after $limit. Returns where they end.
  (func (export "write")
    (param $from i32) (param $end i32) (param $between i32) (param $length i32) (param $to i32) (param $limit i32)
    (result i32)
    (local $bytes v128)
    (local $special i32)
    (local $left i32)
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $from) (local.get $end)))
        (br_if $done (i32.gt_u (local.get $to) (local.get $limit)))
        (local.set $bytes (v128.load (local.get $from)))
        (v128.store (local.get $to) (local.get $bytes))
        ;; A bit for each byte below a space, and for each quote and backslash.
        (local.set $special
          (i8x16.bitmask
            (v128.or
              (i8x16.lt_u (local.get $bytes) (i8x16.splat (i32.const 0x20)))
              (v128.or
                (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x22)))
                (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x5c)))))))
        ;; What lies after the end is special too.
        (local.set $left (i32.sub (local.get $end) (local.get $from)))
        (if (i32.lt_u (local.get $left) (i32.const 16))
          (then (local.set $special (i32.or (local.get $special) (i32.shl (i32.const 1) (local.get $left))))))
        (if (i32.eqz (local.get $special))
          (then
            (local.set $from (i32.add (local.get $from) (i32.const 16)))
            (local.set $to (i32.add (local.get $to) (i32.const 16)))
            (br $next)))
        (local.set $special (i32.ctz (local.get $special)))
        (local.set $from (i32.add (local.get $from) (local.get $special)))
        (local.set $to (i32.add (local.get $to) (local.get $special)))
        (br_if $done (i32.eq (local.get $from) (local.get $end)))
        (local.set $special (i32.load8_u (local.get $from)))
        (local.set $from (i32.add (local.get $from) (i32.const 1)))
        (local.set $to
          (if (result i32) (i32.eq (local.get $special) (i32.const 0x0a))
            (then (call $copy (local.get $between) (local.get $to) (local.get $length)))
            (else (call $escape (local.get $special) (local.get $to)))))
        (br $next)))
    (global.set $read (local.get $from))
    (local.get $to)))
