//! Values that lie one after the other, each to be taken apart when it is asked for.

use serde::{Deserialize, Serialize};

/// Some values, as they are stored.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Rows<'a> {
    /// Where each of them ends, four bytes each.
    ends: &'a [u8],
    /// One after the other.
    bytes: &'a [u8],
}

/// How many bytes tell where a value ends.
const END: usize = 4;

impl<'a> Rows<'a> {
    /// The bytes of the value number `number`; `None` where there is none.
    pub(crate) fn get(&self, number: usize) -> Option<&'a [u8]> {
        let (ends, _) = self.ends.as_chunks::<END>();
        let start = number.checked_sub(1).map_or(Some(&[0; END]), |before| ends.get(before))?;
        let [start, end] = [start, ends.get(number)?].map(|end| u32::from_le_bytes(*end) as usize);
        self.bytes.get(start..end)
    }

    /// The value number `number`; `None` where there is none, or where it is damaged.
    pub(crate) fn parsed<T: Deserialize<'a>>(&self, number: usize) -> Option<T> {
        postcard::from_bytes(self.get(number)?).ok()
    }
}

/// Values that are to be stored so.
#[derive(Debug, Default)]
pub(crate) struct RowsWriter {
    ends: Vec<u8>,
    bytes: Vec<u8>,
}

impl RowsWriter {
    pub(crate) fn add(&mut self, value: &impl Serialize) -> postcard::Result<()> {
        self.bytes.append(&mut postcard::to_allocvec(value)?);
        let end = u32::try_from(self.bytes.len()).map_err(|_| postcard::Error::SerializeBufferFull)?;
        self.ends.extend(end.to_le_bytes());
        Ok(())
    }

    pub(crate) fn rows(&self) -> Rows<'_> {
        Rows { ends: &self.ends, bytes: &self.bytes }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn each_value_is_found_again(values: Vec<String>) {
            let mut writer = RowsWriter::default();
            values.iter().for_each(|value| writer.add(value).expect("there is room"));
            let bytes = postcard::to_allocvec(&writer.rows()).expect("it is stored");
            let rows: Rows<'_> = postcard::from_bytes(&bytes).expect("it is read");
            for (number, value) in values.iter().enumerate() {
                prop_assert_eq!(rows.parsed::<&str>(number), Some(value.as_str()));
            }
            prop_assert_eq!(rows.get(values.len()), None);
        }

        #[test]
        fn bytes_from_elsewhere_do_no_harm(ends: Vec<u8>, bytes: Vec<u8>) {
            let rows = Rows { ends: &ends, bytes: &bytes };
            for number in 0..=ends.len() {
                let _value = rows.parsed::<String>(number);
            }
        }
    }
}
