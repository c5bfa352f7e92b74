//! Parameters and results of sqlx: parameters in the binary format, results in the binary or the text format.
//!
//! The extension's types have no fixed OIDs, so sqlx looks them up by name, once per connection.

use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::{PgArgumentBuffer, PgHasArrayType, PgTypeInfo, PgValueFormat, PgValueRef, Postgres};
use sqlx::{Decode, Encode, Type};

use crate::SortableId;

macro_rules! sqlx_traits {
    ($name:ident, $Id:ident) => {
        impl Type<Postgres> for crate::$Id {
            fn type_info() -> PgTypeInfo {
                PgTypeInfo::with_name(Self::NAME)
            }
        }

        impl PgHasArrayType for crate::$Id {
            fn array_type_info() -> PgTypeInfo {
                PgTypeInfo::array_of(Self::NAME)
            }
        }

        impl Encode<'_, Postgres> for crate::$Id {
            fn encode_by_ref(&self, out: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
                out.extend_from_slice(&self.to_be_bytes());
                Ok(IsNull::No)
            }
        }

        impl Decode<'_, Postgres> for crate::$Id {
            fn decode(value: PgValueRef<'_>) -> Result<Self, BoxDynError> {
                Ok(match value.format() {
                    PgValueFormat::Binary => Self::from_be_bytes(value.as_bytes()?)?,
                    PgValueFormat::Text => value.as_str()?.parse()?,
                })
            }
        }
    };
}
crate::registry!(sqlx_traits);
