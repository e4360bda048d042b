//! Who made and who removed each line; views; what depends on what.
