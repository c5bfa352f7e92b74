use super::*;

#[test]
fn nodes_overlap_if_one_contains_the_other() {
    let overlap = |a: (u32, u32), b: (u32, u32)| {
        let (a, b) = (NodeCode::new(a.0, a.1), NodeCode::new(b.0, b.1));
        assert_eq!(a.overlaps(b), b.overlaps(a));
        a.overlaps(b)
    };
    assert!(overlap((5, 8), (5, 8)));
    assert!(overlap((0, 4), (0, 8)));
    assert!(overlap((5, 4), (0x5f, 8)));
    assert!(!overlap((5, 4), (0x6f, 8)));
    assert!(!overlap((0, 4), (0x10, 8)));
    assert!(!overlap((1, 8), (2, 8)));
    assert!(overlap((8_388_607, 23), (1, 1)) && !overlap((8_388_607, 23), (0, 1)));
    for node in [NodeCode::new(0, 1), NodeCode::new(8_388_607, 23), NodeCode::ALL] {
        assert!(node.overlaps(NodeCode::ALL));
    }
    assert_eq!((NodeCode::new(8_388_607, 23).to_u32(), NodeCode::new(0, 1).to_u32()), ((1 << 24) - 1, 2));
}

#[test]
fn nodes_join_to_their_longest_common_prefix() {
    let join = |a: (u32, u32), b: (u32, u32)| {
        let (a, b) = (NodeCode::new(a.0, a.1), NodeCode::new(b.0, b.1));
        assert_eq!(a.join(b), b.join(a));
        a.join(b)
    };
    assert_eq!(join((5, 8), (5, 8)), NodeCode::new(5, 8));
    assert_eq!(join((0, 4), (0, 8)), NodeCode::new(0, 4));
    assert_eq!(join((4, 8), (5, 8)), NodeCode::new(2, 7));
    assert_eq!(join((0, 8), (128, 8)), NodeCode::ALL);
    assert_eq!(join((8_388_607, 23), (0, 1)), NodeCode::ALL);
    assert_eq!(NodeCode::ALL.join(NodeCode::new(5, 20)), NodeCode::ALL);
}
