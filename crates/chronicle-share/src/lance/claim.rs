//! Who makes a store.
//!
//! Of two who make one table at once, the library lets the second take the place of the first, with all that was put
//! there meanwhile. So whoever is to make it says so first, in a file that only one can make.

use lance_io::object_store::ObjectStore;
use lancedb::Error as LanceDbError;
use object_store::{Error as StorageError, ObjectStoreExt, PutMode, PutOptions};

/// The file that tells who makes the store: what tells it from all others.
const CLAIM: &str = "chronicle-store";

/// Says that we make the store at `url`, and how it is told from others; how it is, where somebody else said so.
pub(super) async fn claim(url: &str, identity: &str) -> Result<Option<String>, LanceDbError> {
    let (store, folder) = ObjectStore::from_uri(url).await?;
    let path = folder.join(CLAIM);
    let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
    match store.inner.put_opts(&path, identity.to_owned().into(), options).await {
        Ok(_) => Ok(None),
        Err(StorageError::AlreadyExists { .. } | StorageError::Precondition { .. }) => {
            let claimed = store.inner.get(&path).await?.bytes().await?;
            Ok(Some(String::from_utf8_lossy(&claimed).into_owned()))
        }
        Err(error) => Err(error.into()),
    }
}
