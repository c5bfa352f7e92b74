//! Nodes of the planner: trees in its memory, which remain while it plans a query. A value with the lifetime `'p` is used during
//! that time only. Whoever makes the first one guarantees that: a hook, a support function or an estimator.

use core::marker::PhantomData;
use core::ops::Deref;
use core::ptr::{self, NonNull};
use core::slice;

use pgrx::pg_sys::{
    ArrayExpr, BoolExpr, Const, FuncExpr, IndexOptInfo, List, Node, NodeTag, NullTest, OpExpr, Param, PlanInvalItem,
    PlannerInfo, RangeTblEntry, RelabelType, RestrictInfo, RowCompareExpr, SQLValueFunction, ScalarArrayOpExpr,
    SubPlan, TargetEntry, Var,
};

#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Root<'p>(NonNull<PlannerInfo>, PhantomData<&'p PlannerInfo>);

impl Root<'_> {
    /// `None` if the pointer is null: an expression can be simplified without a query.
    ///
    /// # Safety
    /// The planner has passed the pointer.
    pub unsafe fn new(root: *mut PlannerInfo) -> Option<Self> {
        Some(Self(NonNull::new(root)?, PhantomData))
    }

    pub const fn as_ptr(self) -> *mut PlannerInfo {
        self.0.as_ptr()
    }
}

impl Deref for Root<'_> {
    type Target = PlannerInfo;

    fn deref(&self) -> &PlannerInfo {
        // SAFETY: guaranteed by `new`.
        unsafe { self.0.as_ref() }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct NodeRef<'p>(NonNull<Node>, PhantomData<&'p Node>);

/// The struct of a kind of nodes.
///
/// # Safety
/// Every node with the tag is this struct.
pub unsafe trait Tagged {
    const TAG: NodeTag;
}

macro_rules! tagged {
    ($($struct:ident $tag:ident)*) => {
        // SAFETY: the server names the tag of a struct after it.
        $(unsafe impl Tagged for $struct {
            const TAG: NodeTag = NodeTag::$tag;
        })*
    };
}

tagged! {
    ArrayExpr T_ArrayExpr
    BoolExpr T_BoolExpr
    Const T_Const
    FuncExpr T_FuncExpr
    IndexOptInfo T_IndexOptInfo
    NullTest T_NullTest
    OpExpr T_OpExpr
    Param T_Param
    PlanInvalItem T_PlanInvalItem
    RangeTblEntry T_RangeTblEntry
    RelabelType T_RelabelType
    RestrictInfo T_RestrictInfo
    RowCompareExpr T_RowCompareExpr
    ScalarArrayOpExpr T_ScalarArrayOpExpr
    SQLValueFunction T_SQLValueFunction
    SubPlan T_SubPlan
    TargetEntry T_TargetEntry
    Var T_Var
}

impl<'p> NodeRef<'p> {
    /// `None` if the pointer is null.
    ///
    /// # Safety
    /// The pointer is null, or the planner has made the node.
    pub unsafe fn new<N>(node: *mut N) -> Option<Self> {
        Some(Self(NonNull::new(node.cast())?, PhantomData))
    }

    pub const fn as_ptr<N>(self) -> *mut N {
        self.0.as_ptr().cast()
    }

    pub fn tag(self) -> NodeTag {
        // SAFETY: every node begins with its tag.
        unsafe { (*self.as_ptr::<Node>()).type_ }
    }

    /// The node as the struct of its tag; `None` if it has another tag.
    pub fn cast<S: Tagged>(self) -> Option<&'p S> {
        // SAFETY: the tag identifies the struct.
        (self.tag() == S::TAG).then(|| unsafe { self.0.cast().as_ref() })
    }

    /// `None` if the expression is NULL or not a constant.
    pub fn constant(self) -> Option<&'p Const> {
        self.cast().filter(|constant: &&Const| !constant.constisnull)
    }

    pub fn is_constant(self) -> bool {
        self.tag() == NodeTag::T_Const
    }

    pub fn column(self) -> Option<&'p Var> {
        self.without_relabel().cast()
    }

    /// The expression below binary-coercible casts, such as that of a tstzrange to a domain.
    pub fn without_relabel(self) -> Self {
        // SAFETY: a cast has an argument.
        match self.cast::<RelabelType>().and_then(|relabel| unsafe { Self::new(relabel.arg) }) {
            Some(argument) => argument.without_relabel(),
            None => self,
        }
    }

    /// The arguments of an operator, of a function call, or of an AND, OR or NOT; empty for any other node.
    pub fn arguments(self) -> Nodes<'p> {
        let operator = self.cast::<OpExpr>().map(|operator| operator.args);
        let call = || self.cast::<FuncExpr>().map(|call| call.args);
        let junction = || self.cast::<BoolExpr>().map(|junction| junction.args);
        // SAFETY: arguments are nodes.
        unsafe { Nodes::new(operator.or_else(call).or_else(junction).unwrap_or(ptr::null_mut())) }
    }

    /// The expression of a condition; `None` if the node is no condition.
    pub fn clause(self) -> Option<Self> {
        // SAFETY: the clause of a condition is an expression.
        self.cast::<RestrictInfo>().and_then(|condition| unsafe { Self::new(condition.clause) })
    }
}

/// A list of nodes. Two lists are equal (`==`) if they are the same.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Nodes<'p>(*mut List, PhantomData<&'p List>);

impl<'p> Nodes<'p> {
    pub const EMPTY: Self = Self(ptr::null_mut(), PhantomData);

    /// # Safety
    /// The planner has made the list, which has nodes.
    pub const unsafe fn new(list: *mut List) -> Self {
        Self(list, PhantomData)
    }

    pub const fn as_ptr(self) -> *mut List {
        self.0
    }

    /// `None` if the list is empty.
    pub fn as_node(self) -> Option<NodeRef<'p>> {
        // SAFETY: a list is a node.
        unsafe { NodeRef::new(self.0) }
    }

    pub const fn is_empty(self) -> bool {
        self.0.is_null()
    }

    /// The nodes. The list must remain unchanged while they are in use.
    pub fn as_slice(self) -> &'p [NodeRef<'p>] {
        // SAFETY: an element is a union of the size of a pointer, and none is null.
        unsafe { self.0.as_ref().map_or(&[], |list| slice::from_raw_parts(list.elements.cast(), list.length as usize)) }
    }

    pub fn iter(self) -> impl Iterator<Item = NodeRef<'p>> + Clone {
        self.as_slice().iter().copied()
    }

    /// The nodes that are structs of one kind.
    pub fn structs<S: Tagged + 'p>(self) -> impl Iterator<Item = &'p S> {
        self.iter().filter_map(NodeRef::cast)
    }
}
