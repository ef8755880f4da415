-- The lag of each section of the wikis in seconds.
SELECT shard, lag
FROM heartbeat_p.heartbeat
