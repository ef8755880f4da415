-- The moment of a load, so that the order "load again what is older than" can hold (R-1). Of loads of before it is not
-- known.
ALTER TABLE robot_entry ADD COLUMN loaded timestamptz NOT NULL DEFAULT '-infinity';
