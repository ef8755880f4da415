-- Sessions that people ended before their time (H-4), for all web processes.

-- name: record_ended
INSERT INTO ended_session (session, until)
VALUES (%(session)s, to_timestamp(%(until)s::float8))
ON CONFLICT (session) DO UPDATE SET until = greatest(ended_session.until, excluded.until)

-- name: find_ended
SELECT FROM ended_session WHERE session = %(session)s

-- name: delete_past
DELETE FROM ended_session
WHERE session = ANY (ARRAY(
    SELECT session FROM ended_session WHERE until < clock_timestamp() LIMIT %(limit)s FOR UPDATE SKIP LOCKED
))
