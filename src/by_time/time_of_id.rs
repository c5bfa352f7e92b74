//! What the planner knows of the functions `T_timestamp`: the time of an ID never decreases with the ID.
//!
//! The planner asks the support function of `T_timestamp` when it simplifies a query that calls the function. That is before it
//! looks at the tables of the query, also in the first query of a session, which loads this library. The support function stores
//! the OIDs that [`super::time_condition`] and [`super::time_order`] need, and lets the plan depend on the function, which
//! tells the hooks the statements with a call. Only a superuser can declare a support function, so that a function of another user is
//! never taken for ours. A change of any function, operator or operator family removes the OIDs. Without them, the hooks
//! leave the times of IDs alone.

use core::ffi::{CStr, c_int};

use pgrx::pg_sys::{self, Datum, FuncExpr, Oid, PlanInvalItem, PlannerInfo};
use scru_server::time_compare::Operator;

use crate::by_time::expression;
use crate::call::error::Error;
use crate::call::stored::StoredId;
use crate::call::{Call, internal_schema};
use crate::pg::plan_nodes::{NodeRef, Nodes, Root};
use crate::pg::process::LookedUp;
use crate::pg::unguarded::{GetSysCacheOid, exprType, get_opcode, getBaseType, record_plan_function_dependency};
use crate::pg::{catalog, server};
use crate::settings::TIME_OF_ID;

/// A function `T_timestamp`, and what replaces a comparison of its result.
#[derive(Clone, Copy)]
pub struct TimeOfId {
    pub function: Oid,
    /// The hash value of the function in the system cache, by which plans depend on it.
    hash: u32,
    pub id_type: Oid,
    /// The btree operator family of the type.
    pub family: Oid,
    /// The operators `>` and `<=` of an ID and a time, which compare ticks, and their functions.
    greater: (Oid, Oid),
    less_or_equal: (Oid, Oid),
    /// `scru_before`
    pub before: Oid,
    pub on_time: OnTime,
}

/// Builds the simplified comparison of copies of an ID and a time: [`condition::on_time`](super::condition::on_time) of the type.
pub type OnTime = for<'p> fn(Root<'p>, &TimeOfId, Operator, NodeRef<'p>, NodeRef<'p>) -> NodeRef<'p>;

impl TimeOfId {
    /// The operator of an ID and a time, which is `>` or `<=`.
    pub fn operator(&self, operator: Operator) -> Oid {
        if operator.is_lower_bound() { self.greater.0 } else { self.less_or_equal.0 }
    }

    /// Whether the user may execute the function, and what replaces a comparison. The operators are each other's negators.
    pub fn is_executable(&self) -> bool {
        let functions = [self.function, self.greater.1, self.less_or_equal.1, self.before];
        functions.into_iter().all(server::may_execute)
    }
}

/// The functions that this session has planned a call of.
pub static KNOWN: LookedUp<TimeOfId> = LookedUp::new();

/// Whether a query of this session has called a `T_timestamp`, and the setting is on: otherwise the hooks have nothing to do.
#[inline]
pub fn is_in_use() -> bool {
    !KNOWN.is_empty() && TIME_OF_ID.get()
}

/// Whether the statement that is planned calls a known function: whether its plan depends on one.
///
/// # Safety
/// `root` is the planner's state.
#[inline]
pub unsafe fn is_called_in(root: *const PlannerInfo) -> bool {
    // SAFETY: guaranteed by the caller.
    let mut items = unsafe { Nodes::new((*(*root).glob).invalItems) }.structs::<PlanInvalItem>();
    items.any(|item| KNOWN.find(|known| known.hash == item.hashValue).is_some())
}

/// The function of a call, and its argument; `None` if the expression is no call of a known function.
#[inline]
pub fn called(node: NodeRef) -> Option<(TimeOfId, NodeRef)> {
    let call = node.cast::<FuncExpr>()?;
    let function = KNOWN.find(|known| known.function == call.funcid)?;
    Some((function, node.arguments().iter().next()?))
}

/// The argument of a call of `scru_before`; `None` for any other expression.
pub fn argument_of_before(node: NodeRef) -> Option<NodeRef> {
    let call = node.cast::<FuncExpr>()?;
    KNOWN.find(|known| known.before == call.funcid)?;
    node.arguments().iter().next()
}

/// `T_timestamp_support(internal) → internal`: the support function of `T_timestamp`. Answers the server's request for an expression in
/// place of a call: every call remains.
pub fn support<T: StoredId>(call: Call, on_time: OnTime) -> Result<Datum, Error> {
    let request = call.datum(0).cast_mut_ptr::<pg_sys::SupportRequestSimplify>();
    // SAFETY: the server passes a support request, whose tag identifies the struct. The call is a node.
    unsafe {
        let is_simplify = (*request).type_ == pg_sys::NodeTag::T_SupportRequestSimplify;
        let call = if is_simplify { NodeRef::new((*request).fcall).and_then(catalog::called) } else { None };
        if let Some((function, arguments)) = call {
            KNOWN.find_or(|known| known.function == function, || look_up::<T>(function, arguments, on_time));
            let root = (*request).root;
            if root.as_ref().is_some_and(|root| !root.glob.is_null() && !is_called_in(root)) {
                record_plan_function_dependency(root, function);
            }
        }
    }
    Ok(Datum::null())
}

/// What is to be known of a function that is called with these arguments; `None` if one of the objects does not exist, or if the user
/// must not execute it.
fn look_up<T: StoredId>(function: Oid, arguments: Nodes, on_time: OnTime) -> Option<TimeOfId> {
    let &[id] = arguments.as_slice() else { return None };
    let id_type = getBaseType(exprType(id));
    let (schema, of_ids, none) = (internal_schema(), [id_type, pg_sys::TIMESTAMPTZOID], Datum::null());
    let of_ticks = |name: &str, symbol: &CStr| {
        let function = expression::function_in(schema, &[T::NAME, name], &of_ids)?;
        let (cache, column) = (pg_sys::SysCacheIdentifier::OPERNAMENSP as c_int, pg_sys::Anum_pg_operator_oid as i16);
        let ([left, right], of_system) = (of_ids.map(Datum::from), pg_sys::PG_CATALOG_NAMESPACE.into());
        // SAFETY: the keys have the types of the cache's.
        let operator = unsafe { GetSysCacheOid(cache, column, Datum::from(symbol.as_ptr()), left, right, of_system) };
        (operator != Oid::INVALID && get_opcode(operator) == function).then_some((operator, function))
    };
    Some(TimeOfId {
        function,
        // SAFETY: a look-up.
        hash: unsafe {
            pg_sys::GetSysCacheHashValue(pg_sys::SysCacheIdentifier::PROCOID as _, function.into(), none, none, none)
        },
        id_type,
        family: expression::family(id_type),
        greater: of_ticks("_gt_timestamptz", c">")?,
        less_or_equal: of_ticks("_le_timestamptz", c"<=")?,
        before: expression::function_in(schema, &["scru_before"], &[pg_sys::TIMESTAMPTZOID])?,
        on_time,
    })
}
