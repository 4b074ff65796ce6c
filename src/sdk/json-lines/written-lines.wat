;; Recognises lines of JSON as `serialise` writes events: without spaces, `timestamp` and `data` first. `npm run wat` makes
;; written-lines-code.ts of it. What it does not recognise may still be an event; the caller parses it then.
(module
  (memory (export "memory") 20)

  ;; How many lines the last call has recognised.
  (global $lines (export "lines") (mut i32) (i32.const 0))

  ;; The first 48 bytes of the memory are how each line has to start: `{"timestamp":"2026-01-01T00:00:00.000Z","data":{`.
  (func $starts (param $at i32) (result i32)
    (i32.and
      (i32.and
        (i8x16.all_true (i8x16.eq (v128.load (local.get $at)) (v128.load (i32.const 0))))
        (i8x16.all_true (i8x16.eq (v128.load offset=16 (local.get $at)) (v128.load offset=16 (i32.const 0)))))
      (i8x16.all_true (i8x16.eq (v128.load offset=32 (local.get $at)) (v128.load offset=32 (i32.const 0))))))

  ;; Whether the byte is a digit.
  (func $isDigit (param $byte i32) (result i32)
    (i32.lt_u (i32.sub (local.get $byte) (i32.const 0x30)) (i32.const 10)))

  ;; Where the digits end that start at $at.
  (func $digits (param $at i32) (result i32)
    (block $done
      (loop $next
        (br_if $done (i32.eqz (call $isDigit (i32.load8_u (local.get $at)))))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br $next)))
    (local.get $at))

  ;; Where the number ends that starts at $at; 0 if there is none.
  (func $number (param $at i32) (result i32)
    (local $start i32)
    (if (i32.eq (i32.load8_u (local.get $at)) (i32.const 0x2d)) ;; -
      (then (local.set $at (i32.add (local.get $at) (i32.const 1)))))
    (local.set $start (local.get $at))
    (local.set $at (call $digits (local.get $at)))
    (if (i32.eq (local.get $at) (local.get $start)) (then (return (i32.const 0))))
    ;; No other digit follows a leading 0.
    (if (i32.and
          (i32.eq (i32.load8_u (local.get $start)) (i32.const 0x30))
          (i32.gt_u (i32.sub (local.get $at) (local.get $start)) (i32.const 1)))
      (then (return (i32.const 0))))
    (if (i32.eq (i32.load8_u (local.get $at)) (i32.const 0x2e)) ;; .
      (then
        (local.set $start (i32.add (local.get $at) (i32.const 1)))
        (local.set $at (call $digits (local.get $start)))
        (if (i32.eq (local.get $at) (local.get $start)) (then (return (i32.const 0))))))
    (if (i32.eq (i32.or (i32.load8_u (local.get $at)) (i32.const 0x20)) (i32.const 0x65)) ;; e, E
      (then
        (local.set $start (i32.add (local.get $at) (i32.const 1)))
        (if (i32.or
              (i32.eq (i32.load8_u (local.get $start)) (i32.const 0x2b))
              (i32.eq (i32.load8_u (local.get $start)) (i32.const 0x2d)))
          (then (local.set $start (i32.add (local.get $start) (i32.const 1)))))
        (local.set $at (call $digits (local.get $start)))
        (if (i32.eq (local.get $at) (local.get $start)) (then (return (i32.const 0))))))
    (local.get $at))

  ;; Where the escape ends whose backslash is at $at; 0 if it is none of JSON.
  (func $escape (param $at i32) (result i32)
    (local $byte i32)
    (local $n i32)
    (local.set $byte (i32.load8_u offset=1 (local.get $at)))
    (if (i32.ne (local.get $byte) (i32.const 0x75)) ;; u
      (then
        (if (i32.or
              (i32.or
                (i32.or (i32.eq (local.get $byte) (i32.const 0x22)) (i32.eq (local.get $byte) (i32.const 0x5c)))
                (i32.or (i32.eq (local.get $byte) (i32.const 0x2f)) (i32.eq (local.get $byte) (i32.const 0x6e))))
              (i32.or
                (i32.or (i32.eq (local.get $byte) (i32.const 0x74)) (i32.eq (local.get $byte) (i32.const 0x72)))
                (i32.or (i32.eq (local.get $byte) (i32.const 0x62)) (i32.eq (local.get $byte) (i32.const 0x66)))))
          (then (return (i32.add (local.get $at) (i32.const 2)))))
        (return (i32.const 0))))
    (local.set $at (i32.add (local.get $at) (i32.const 2)))
    (loop $next
      (local.set $byte (i32.load8_u (local.get $at)))
      (if (i32.eqz
            (i32.or
              (call $isDigit (local.get $byte))
              (i32.lt_u (i32.sub (i32.or (local.get $byte) (i32.const 0x20)) (i32.const 0x61)) (i32.const 6))))
        (then (return (i32.const 0))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (local.set $n (i32.add (local.get $n) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $n) (i32.const 4))))
    (local.get $at))

  ;; Where the string ends whose opening quote is ahead of $at, after its closing quote; 0 if it does not end. The NULs
  ;; after the lines end every string.
  (func $string (param $at i32) (result i32)
    (local $bytes v128)
    (local $special i32)
    (loop $next
      (local.set $bytes (v128.load (local.get $at)))
      (local.set $special
        (i8x16.bitmask
          (v128.or
            (i8x16.lt_u (local.get $bytes) (i8x16.splat (i32.const 0x20)))
            (v128.or
              (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x22)))
              (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x5c)))))))
      (if (i32.eqz (local.get $special))
        (then
          (local.set $at (i32.add (local.get $at) (i32.const 16)))
          (br $next)))
      (local.set $at (i32.add (local.get $at) (i32.ctz (local.get $special))))
      (if (i32.eq (i32.load8_u (local.get $at)) (i32.const 0x22))
        (then (return (i32.add (local.get $at) (i32.const 1)))))
      (if (i32.ne (i32.load8_u (local.get $at)) (i32.const 0x5c)) (then (return (i32.const 0))))
      (local.set $at (call $escape (local.get $at)))
      (br_if $next (local.get $at)))
    (i32.const 0))

  ;; Whether a key beside `timestamp` and `data`, which starts at $at, could be one of these again, also with escapes.
  (func $couldRepeat (param $at i32) (result i32)
    (local $first i32)
    (local $second i32)
    (local.set $first (i32.load8_u (local.get $at)))
    (local.set $second (i32.load8_u offset=1 (local.get $at)))
    (i32.or
      (i32.or
        (i32.eq (local.get $first) (i32.const 0x64)) ;; d
        (i32.eq (local.get $first) (i32.const 0x5c)))
      (i32.and
        (i32.eq (local.get $first) (i32.const 0x74)) ;; t
        (i32.or
          (i32.eq (local.get $second) (i32.const 0x69)) ;; i
          (i32.eq (local.get $second) (i32.const 0x5c))))))

  ;; Where the first line starts that is not recognised, or $end. There is an LF ahead of $end, and 64 NULs after it.
  (func (export "recognise") (param $at i32) (param $end i32) (result i32)
    (local $line i32)
    (local $byte i32)
    ;; What is open: a bit for each level, 1 for an object and 0 for an array, after a first 1.
    (local $open i64)
    ;; What may come: 0 a value, 1 a key or the end of an object, 2 a key, 3 what follows a value, 4 a value or the end of
    ;; an array.
    (local $state i32)
    (global.set $lines (i32.const 0))
    (block $refused
      (loop $nextLine
        (local.set $line (local.get $at))
        (if (i32.ge_u (local.get $at) (local.get $end)) (then (return (local.get $end))))
        (br_if $refused (i32.eqz (call $starts (local.get $at))))
        (local.set $at (i32.add (local.get $at) (i32.const 48)))
        (local.set $open (i64.const 7))
        (local.set $state (i32.const 1))
        (loop $next
          (local.set $byte (i32.load8_u (local.get $at)))
          (if (i32.eq (local.get $state) (i32.const 3))
            (then
              (local.set $at (i32.add (local.get $at) (i32.const 1)))
              (if (i32.eq (local.get $byte) (i32.const 0x2c)) ;; ,
                (then
                  (local.set $state (select (i32.const 2) (i32.const 0) (i32.wrap_i64 (i64.and (local.get $open) (i64.const 1)))))
                  (br $next)))
              (br_if $refused
                (i32.ne
                  (local.get $byte)
                  (select (i32.const 0x7d) (i32.const 0x5d) (i32.wrap_i64 (i64.and (local.get $open) (i64.const 1))))))
              (local.set $open (i64.shr_u (local.get $open) (i64.const 1)))
              (br_if $next (i64.ne (local.get $open) (i64.const 1)))
              (br_if $refused (i32.ne (i32.load8_u (local.get $at)) (i32.const 0x0a)))
              (local.set $at (i32.add (local.get $at) (i32.const 1)))
              (global.set $lines (i32.add (global.get $lines) (i32.const 1)))
              (br $nextLine)))
          (if (i32.or (i32.eq (local.get $state) (i32.const 1)) (i32.eq (local.get $state) (i32.const 2)))
            (then
              (if (i32.and (i32.eq (local.get $state) (i32.const 1)) (i32.eq (local.get $byte) (i32.const 0x7d)))
                (then (local.set $state (i32.const 3)) (br $next)))
              (br_if $refused (i32.ne (local.get $byte) (i32.const 0x22)))
              (local.set $at (i32.add (local.get $at) (i32.const 1)))
              (if (i64.eq (local.get $open) (i64.const 3))
                (then (br_if $refused (call $couldRepeat (local.get $at)))))
              (local.set $at (call $string (local.get $at)))
              (br_if $refused (i32.eqz (local.get $at)))
              (br_if $refused (i32.ne (i32.load8_u (local.get $at)) (i32.const 0x3a))) ;; :
              (local.set $at (i32.add (local.get $at) (i32.const 1)))
              (local.set $state (i32.const 0))
              (br $next)))
          (if (i32.and (i32.eq (local.get $state) (i32.const 4)) (i32.eq (local.get $byte) (i32.const 0x5d)))
            (then (local.set $state (i32.const 3)) (br $next)))
          (local.set $state (i32.const 3))
          (if (i32.eq (local.get $byte) (i32.const 0x22))
            (then
              (local.set $at (call $string (i32.add (local.get $at) (i32.const 1))))
              (br_if $refused (i32.eqz (local.get $at)))
              (br $next)))
          (if (i32.eq (i32.or (local.get $byte) (i32.const 0x20)) (i32.const 0x7b)) ;; { and [
            (then
              ;; There is no bit for one more level.
              (br_if $refused (i64.lt_s (local.get $open) (i64.const 0)))
              (local.set $open
                (i64.or
                  (i64.shl (local.get $open) (i64.const 1))
                  (i64.extend_i32_u (i32.eq (local.get $byte) (i32.const 0x7b)))))
              (local.set $state (select (i32.const 1) (i32.const 4) (i32.eq (local.get $byte) (i32.const 0x7b))))
              (local.set $at (i32.add (local.get $at) (i32.const 1)))
              (br $next)))
          (if (i32.or
                (i32.eq (i32.load (local.get $at)) (i32.const 0x65757274)) ;; true
                (i32.eq (i32.load (local.get $at)) (i32.const 0x6c6c756e))) ;; null
            (then (local.set $at (i32.add (local.get $at) (i32.const 4))) (br $next)))
          (if (i32.and
                (i32.eq (local.get $byte) (i32.const 0x66)) ;; f
                (i32.eq (i32.load offset=1 (local.get $at)) (i32.const 0x65736c61))) ;; alse
            (then (local.set $at (i32.add (local.get $at) (i32.const 5))) (br $next)))
          (local.set $at (call $number (local.get $at)))
          (br_if $next (local.get $at)))))
    (local.get $line)))
