//! Line hashes, tagged lines, anchors, and operations turned into hunks.
