//! [`ToSql`] and [`FromSql`] for the Rust drivers `postgres` and `tokio-postgres`, in the binary format.
//!
//! An ID converts to and from its own SQL type and `bytea`. The extension's types have no fixed OIDs, so they are recognized
//! by name.

use std::error::Error;

use bytes::BytesMut;
use postgres_types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use crate::SortableId;

macro_rules! sql_traits {
    ($name:ident, $Id:ident) => {
        impl ToSql for crate::$Id {
            fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
                out.extend_from_slice(&self.to_be_bytes());
                Ok(IsNull::No)
            }

            fn accepts(ty: &Type) -> bool {
                <Self as FromSql>::accepts(ty)
            }

            to_sql_checked!();
        }

        impl<'a> FromSql<'a> for crate::$Id {
            fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
                Ok(Self::from_be_bytes(raw)?)
            }

            fn accepts(ty: &Type) -> bool {
                ty.name() == Self::NAME || *ty == Type::BYTEA
            }
        }
    };
}
crate::registry!(sql_traits);

#[cfg(test)]
mod tests {
    use postgres_types::Kind;

    use super::*;
    use crate::{Scru64, Scru128, Scru160, Ulid, Ulidflake};

    fn hex(digits: &str) -> Vec<u8> {
        (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
    }

    /// Returns a type as the server describes it. The OID is arbitrary, like that of any extension's type.
    fn sql_type(name: &str) -> Type {
        Type::new(name.to_owned(), 16_385, Kind::Simple, "public".to_owned())
    }

    fn check<T: SortableId + ToSql + for<'a> FromSql<'a>>(text: &str, bytes: &[u8]) {
        let id: T = text.parse().unwrap();
        for ty in [sql_type(T::NAME), Type::BYTEA] {
            let mut out = BytesMut::from(&b"before"[..]);
            assert!(matches!(id.to_sql_checked(&ty, &mut out), Ok(IsNull::No)));
            assert_eq!(&out[..], [b"before", bytes].concat());
            assert!(<T as FromSql>::accepts(&ty));
            assert_eq!(T::from_sql(&ty, bytes).unwrap(), id);
        }
        for ty in [sql_type("order_id"), Type::TEXT, Type::UUID, Type::INT8] {
            assert!(!<T as ToSql>::accepts(&ty) && !<T as FromSql>::accepts(&ty), "{ty}");
            assert!(id.to_sql_checked(&ty, &mut BytesMut::new()).is_err(), "{ty}");
        }
        assert_eq!(<T as FromSql>::accepts(&sql_type("ulid")), T::NAME == "ulid");
        assert_eq!(<T as ToSql>::accepts(&sql_type("scru64")), T::NAME == "scru64");

        let error = T::from_sql(&sql_type(T::NAME), &bytes[1..]).unwrap_err();
        assert_eq!(error.to_string(), format!("expected {0} bytes, but received {1}", bytes.len(), bytes.len() - 1));
    }

    #[test]
    fn ids_are_their_big_endian_bytes() {
        check::<Scru128>("0372ijojuxuhjsfkeryi2mrtm", &hex("017fef39c2641ba56a9483188841e05a"));
        check::<Ulid>("01ARZ3NDEKTSV4RRFFQ69G5FAV", &hex("01563e3ab5d3d6764c61efb99302bd5b"));
        check::<Scru160>("05TTUP1HNCPNH30VEK64KDQT9BSNU4C4", &hex("017bdf6431bb33788c1f750c4a375d4af97f1184"));
        check::<Scru64>("0u375nxqh5cq", &hex("0186d52bbe2a635a"));
        check::<Ulidflake>("00CMXB6TAK4SA", &hex("00329d59b4a9932a"));
    }

    #[test]
    fn a_number_above_the_largest_is_an_error() {
        let error = Scru64::from_sql(&sql_type("scru64"), &[0xff; 8]).unwrap_err();
        assert_eq!(error.to_string(), "the number is above the type's largest");
    }
}
