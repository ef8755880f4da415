-- Texts of link cards, one for each URL whose card was opened (R-8).

-- name: find_card
SELECT card, looked, is_open FROM link_card WHERE digest = %(digest)s

-- name: claim_look
-- For one process alone. A look that was never ended (its process was killed) may be made again the next day.
INSERT INTO link_card (digest, looked)
SELECT %(digest)s, %(day)s WHERE (SELECT count(*) FROM link_card) < %(most)s
ON CONFLICT (digest) DO UPDATE SET looked = excluded.looked, is_open = true
WHERE link_card.looked <= excluded.looked - %(days)s OR (link_card.is_open AND link_card.looked < excluded.looked)
RETURNING true

-- name: record_card
UPDATE link_card SET card = %(card)s, is_open = false WHERE digest = %(digest)s

-- name: give_back
DELETE FROM link_card WHERE digest = %(digest)s AND is_open

-- name: delete_past
-- fan-out: the oldest by index.
DELETE FROM link_card
USING (
    SELECT digest FROM link_card WHERE looked < %(before)s ORDER BY digest LIMIT %(limit)s FOR UPDATE SKIP LOCKED
) AS gone
WHERE link_card.digest = gone.digest
