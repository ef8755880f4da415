-- Alarms that follow from the state of the store are computed when they are asked for (O-5); none is kept any more.
DELETE FROM alarm WHERE kind IN ('pass-slow', 'round-slow', 'stream-behind', 'spam-lines');
