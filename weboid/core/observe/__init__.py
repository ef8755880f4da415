"""From a server's answer to an observation: status byte, reason, target, type. Judging it is `verdict`'s business."""
