pub const HARMLESS: &[&str] = &[];
