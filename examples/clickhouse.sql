CREATE TABLE IF NOT EXISTS access_log
(
    timestamp DateTime,
    remote_addr String,
    method String,
    path String,
    status UInt16,
    bytes UInt64,
    referer String,
    user_agent String,
    protocol String,
    user String,
    ident String,
    request String,
    server_name String,
    server_port UInt16,
    rest String,
    line String
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(timestamp)
ORDER BY timestamp
