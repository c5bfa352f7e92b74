//! What the planner knows of the functions `T_timestamp`: the time of an ID never decreases with the ID.
//!
//! The planner asks the support function of `T_timestamp` when it simplifies a query that calls the function. That is before it
//! looks at the tables of the query, also in the first query of a session, which loads this library. The support function stores
//! the OIDs that the hooks in [`super::time_condition`] and [`super::time_order`] need. Only a superuser can declare a support
//! function, so that a function of another user is never taken for ours. A change of any function or operator removes the OIDs.
//! Without them, the hooks return at once.

use core::cell::Cell;
use core::ffi::{CStr, c_int};

use pgrx::pg_sys::{self, Datum, FuncExpr, Node, NodeTag, Oid};

use crate::by_time::expression::{self, cast, elements};
use crate::call::Call;
use crate::call::error::Error;
use crate::call::stored::StoredId;
use crate::pg::process::PerProcess;
use crate::pg::server;
use crate::pg::unguarded::{
    CacheRegisterSyscacheCallback, GetSysCacheOid, exprType, get_opcode, getBaseType, lookup_type_cache,
};
use crate::settings::TIME_OF_ID;

/// A function `T_timestamp`, and what replaces a comparison of its result.
#[derive(Clone, Copy)]
pub struct TimeOfId {
    pub function: Oid,
    pub id_type: Oid,
    /// The btree operator family of the type.
    pub family: Oid,
    /// The operators `>` and `<=` of an ID and a time, which compare ticks.
    pub greater: Oid,
    pub less_or_equal: Oid,
    /// `scru_before`
    pub before: Oid,
}

impl TimeOfId {
    const NONE: Self = Self {
        function: Oid::INVALID,
        id_type: Oid::INVALID,
        family: Oid::INVALID,
        greater: Oid::INVALID,
        less_or_equal: Oid::INVALID,
        before: Oid::INVALID,
    };

    /// Returns whether the user may execute what replaces a comparison.
    ///
    /// # Safety
    /// Must be called in a transaction.
    pub unsafe fn is_executable(&self) -> bool {
        // SAFETY: guaranteed by the caller. `<=` is the negator of `>`.
        unsafe { expression::may_execute(self.greater) && server::may_execute(self.before) }
    }
}

const CAPACITY: usize = 8;

/// The functions that this session has planned a call of.
struct Known {
    count: Cell<usize>,
    functions: [Cell<TimeOfId>; CAPACITY],
}

static KNOWN: PerProcess<Known> =
    PerProcess::new(Known { count: Cell::new(0), functions: [const { Cell::new(TimeOfId::NONE) }; CAPACITY] });

/// Registers the callback that removes what is known.
pub fn register() {
    use pg_sys::SysCacheIdentifier::{OPEROID, PROCOID};
    for cache in [PROCOID, OPEROID] {
        // SAFETY: called from _PG_init. The callback only writes a variable.
        unsafe { CacheRegisterSyscacheCallback(cache as c_int, forget, Datum::null()) };
    }
}

unsafe extern "C-unwind" fn forget(_argument: Datum, _cache: c_int, _hash: u32) {
    KNOWN.count.set(0);
}

/// Returns whether the hooks have something to do: a function is known, and the setting is on.
#[inline]
pub fn is_served() -> bool {
    KNOWN.count.get() > 0 && TIME_OF_ID.get()
}

/// Returns a known function that satisfies a condition.
#[inline]
pub fn find(is_wanted: impl Fn(&TimeOfId) -> bool) -> Option<TimeOfId> {
    KNOWN.functions[..KNOWN.count.get()].iter().map(Cell::get).find(is_wanted)
}

/// Returns the function of a call, and its argument; `None` if the expression is no call of a known function.
///
/// # Safety
/// `node` is an expression.
#[inline]
pub unsafe fn called(node: *mut Node) -> Option<(TimeOfId, *mut Node)> {
    // SAFETY: the tag identifies the struct. The function has one argument.
    unsafe {
        let call = cast::<FuncExpr>(node, NodeTag::T_FuncExpr)?;
        let function = find(|known| known.function == call.funcid)?;
        Some((function, *elements(call.args).first()?))
    }
}

/// `T_timestamp_support(internal) → internal`: the support function of `T_timestamp`. Every call remains.
pub fn support<T: StoredId>(call: Call) -> Result<Datum, Error> {
    // SAFETY: the server passes a support request, whose tag identifies the struct.
    unsafe {
        let node = call.datum(0).cast_mut_ptr::<Node>();
        let request = cast::<pg_sys::SupportRequestSimplify>(node, NodeTag::T_SupportRequestSimplify);
        if let Some(call) = request.and_then(|request| request.fcall.as_ref())
            && find(|known| known.function == call.funcid).is_none()
            && let Some(found) = look_up::<T>(call)
            && let Some(place) = KNOWN.functions.get(KNOWN.count.get())
        {
            place.set(found);
            KNOWN.count.set(KNOWN.count.get() + 1);
        }
    }
    Ok(Datum::null())
}

/// Returns what is to be known of the function of a call; `None` if one of the objects does not exist, or if the user must not execute
/// it.
unsafe fn look_up<T: StoredId>(call: &FuncExpr) -> Option<TimeOfId> {
    // SAFETY: look-ups in the caches during planning.
    unsafe {
        let &[id] = elements(call.args) else { return None };
        let id_type = getBaseType(exprType(id));
        let ((), schema) = expression::name_and_schema(call.funcid, |_| ())?;
        let of_ids = [id_type, pg_sys::TIMESTAMPTZOID];
        let operator = |name: &str, symbol: &CStr| {
            let function = expression::function_in(schema, &[T::NAME, name], &of_ids)?;
            let operator = operator_in(schema, symbol, of_ids);
            (operator != Oid::INVALID && get_opcode(operator) == function).then_some(operator)
        };
        Some(TimeOfId {
            function: call.funcid,
            id_type,
            family: (*lookup_type_cache(id_type, pg_sys::TYPECACHE_BTREE_OPFAMILY as c_int)).btree_opf,
            greater: operator("_gt_timestamptz", c">")?,
            less_or_equal: operator("_le_timestamptz", c"<=")?,
            before: expression::function_in(schema, &["scru_before"], &[pg_sys::TIMESTAMPTZOID])?,
        })
    }
}

/// Returns the operator with a symbol and operands in a schema; 0 if there is none.
unsafe fn operator_in(schema: Oid, symbol: &CStr, [left, right]: [Oid; 2]) -> Oid {
    let cache = pg_sys::SysCacheIdentifier::OPERNAMENSP as c_int;
    let (symbol, column) = (Datum::from(symbol.as_ptr()), pg_sys::Anum_pg_operator_oid as i16);
    // SAFETY: a look-up in the system cache.
    unsafe { GetSysCacheOid(cache, column, symbol, left.into(), right.into(), schema.into()) }
}
