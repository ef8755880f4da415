-- By how many seconds each section of the wikis is behind.
SELECT shard, lag
FROM heartbeat_p.heartbeat
