//! A server of files on this machine, which does to each request what a test wants to see survived.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

/// What is done to one request.
#[derive(Clone)]
pub enum Answer {
    /// The whole file.
    File(Vec<u8>),
    /// A file of so many bytes, all alike.
    Large(u64),
    /// A status, with more headers.
    Status(u16, &'static str),
    /// Another address.
    Redirect(String),
    /// A promise of so many bytes, and fewer of them.
    CutOff(u64, Vec<u8>),
    /// Bytes of which nobody said how many, and an end.
    Unsaid(Vec<u8>),
    /// Some bytes, and silence until the other side goes.
    Silence(Vec<u8>),
    /// A byte now and then, forever.
    Drip,
    /// The same, before the file even begins.
    DripHead,
    /// What is written here, and an end.
    Raw(Vec<u8>),
    /// The same after a while.
    Late(Duration, Vec<u8>),
    /// The other side is hung up on.
    HangUp,
    /// The file for whoever shows a token, and a challenge for everybody else.
    Guarded { challenge: String, token: String, bytes: Vec<u8> },
}

/// A request.
struct Asked {
    path: String,
    query: String,
    /// In lower case.
    headers: String,
}

#[derive(Default)]
struct State {
    /// What to do to the requests for a path, in their order; the last one also to all after it.
    answers: HashMap<String, Vec<Answer>>,
    asked: Vec<Asked>,
}

/// The server, until it is dropped.
pub struct FileServer {
    /// Where it listens.
    pub port: u16,
    state: Arc<Mutex<State>>,
    serving: tokio::task::JoinHandle<()>,
}

impl FileServer {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(Mutex::new(State::default()));
        let of_server = state.clone();
        let serving = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let state = of_server.clone();
                connections.spawn(async move {
                    // Whoever has heard enough goes.
                    let _ = converse(stream, &state).await;
                });
            }
        });
        Self { port, state, serving }
    }

    /// The address of a path.
    pub fn url(&self, path: &str) -> Url {
        Url::parse(&format!("http://127.0.0.1:{}{path}", self.port)).unwrap()
    }

    /// From now on requests for a path are answered so, one after the other.
    pub fn on(&self, path: &str, answers: impl IntoIterator<Item = Answer>) {
        self.state.lock().unwrap().answers.insert(path.into(), answers.into_iter().collect());
    }

    /// A file at a path.
    pub fn file(&self, path: &str, bytes: impl Into<Vec<u8>>) {
        self.on(path, [Answer::File(bytes.into())]);
    }

    /// A file at a path for whoever shows a token, and this challenge for everybody else.
    pub fn guarded(&self, path: &str, challenge: &str, token: &str, bytes: &str) {
        let [challenge, token] = [challenge, token].map(str::to_owned);
        self.on(path, [Answer::Guarded { challenge, token, bytes: bytes.into() }]);
    }

    /// A version of a package of npm.
    pub fn npm(&self, name: &str, version: &str, bytes: &[u8]) {
        let integrity =
            format!("sha512-{}", base64::Engine::encode(&base64::prelude::BASE64_STANDARD, sha512(bytes)));
        self.npm_with(name, version, bytes, &integrity);
    }

    /// The same with an index that may say something else.
    pub fn npm_with(&self, name: &str, version: &str, bytes: &[u8], integrity: &str) {
        let tarball = format!("/{name}/-/archive-{version}.tgz");
        let dist = serde_json::json!({"tarball": self.url(&tarball), "integrity": integrity});
        self.file(&format!("/{name}/{version}"), serde_json::json!({"name": name, "dist": dist}).to_string());
        self.file(&tarball, bytes);
    }

    /// A release on PyPI, with its files.
    pub fn pypi(&self, name: &str, version: &str, files: &[(&str, &[u8])]) {
        let urls: Vec<_> = files
            .iter()
            .map(|(file, bytes)| {
                let path = format!("/files/{file}");
                self.file(&path, *bytes);
                let digest = hashline_package::FileHash::of(*bytes).unwrap().hex();
                serde_json::json!({"filename": file, "url": self.url(&path), "digests": {"sha256": digest}, "yanked": false})
            })
            .collect();
        self.file(&format!("/pypi/{name}/{version}/json"), serde_json::json!({"urls": urls}).to_string());
    }

    /// How often a path was asked for.
    pub fn asked(&self, path: &str) -> usize {
        self.state.lock().unwrap().asked.iter().filter(|asked| asked.path == path).count()
    }

    /// How many requests there were.
    pub fn requests(&self) -> usize {
        self.state.lock().unwrap().asked.len()
    }

    /// The headers of the last request for a path, in lower case.
    pub fn headers_of(&self, path: &str) -> String {
        self.last(path, |asked| asked.headers.clone())
    }

    /// The query of the last request for a path.
    pub fn query_of(&self, path: &str) -> String {
        self.last(path, |asked| asked.query.clone())
    }

    fn last(&self, path: &str, of: impl Fn(&Asked) -> String) -> String {
        of(self.state.lock().unwrap().asked.iter().rfind(|asked| asked.path == path).unwrap())
    }
}

impl Drop for FileServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

fn sha512(bytes: &[u8]) -> Vec<u8> {
    use sha2::Digest;
    sha2::Sha512::digest(bytes).to_vec()
}

/// An answer that is as it says.
fn whole(status: &str, more: &str, bytes: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status}\r\n{more}Content-Length: {}\r\n\r\n", bytes.len());
    [head.as_bytes(), bytes].concat()
}

async fn converse(stream: TcpStream, state: &Mutex<State>) -> std::io::Result<()> {
    let (reader, mut writer) = stream.into_split();
    let mut reader = BufReader::new(reader);
    loop {
        let mut first = String::new();
        if reader.read_line(&mut first).await? == 0 {
            return Ok(());
        }
        let mut headers = String::new();
        while !headers.ends_with("\r\n\r\n") && headers != "\r\n" {
            // What follows a request that had more to it than is read here ends with the connection.
            if reader.read_line(&mut headers).await? == 0 {
                return Ok(());
            }
        }
        // A proxy is asked for a whole address.
        let target = first.split(' ').nth(1).unwrap_or_default();
        let (target, query) = target.split_once('?').unwrap_or((target, ""));
        let path = Url::parse(target).map_or_else(|_| target.to_owned(), |url| url.path().to_owned());
        let headers = headers.to_lowercase();
        let answer = {
            let mut state = state.lock().unwrap();
            state.asked.push(Asked { path: path.clone(), query: query.into(), headers: headers.clone() });
            match state.answers.get_mut(&path) {
                None => Answer::Status(404, ""),
                Some(answers) if answers.len() > 1 => answers.remove(0),
                Some(answers) => answers[0].clone(),
            }
        };
        match answer {
            Answer::File(bytes) => writer.write_all(&whole("200 OK", "", &bytes)).await?,
            Answer::Guarded { challenge, token, bytes } => {
                let answer = if headers.contains(&format!("authorization: bearer {token}\r\n")) {
                    whole("200 OK", "", &bytes)
                } else {
                    whole("401 x", &format!("WWW-Authenticate: {challenge}\r\n"), b"")
                };
                writer.write_all(&answer).await?;
            }
            Answer::Large(size) => {
                writer
                    .write_all(format!("HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n").as_bytes())
                    .await?;
                tokio::io::copy(&mut tokio::io::repeat(b'x').take(size), &mut writer).await?;
            }
            Answer::Status(status, more) => {
                writer.write_all(&whole(&format!("{status} x"), more, b"")).await?;
            }
            Answer::Redirect(to) => {
                writer.write_all(&whole("302 x", &format!("Location: {to}\r\n"), b"")).await?;
            }
            Answer::CutOff(said, bytes) => {
                writer
                    .write_all(format!("HTTP/1.1 200 OK\r\nContent-Length: {said}\r\n\r\n").as_bytes())
                    .await?;
                writer.write_all(&bytes).await?;
                return Ok(());
            }
            Answer::Unsaid(bytes) => {
                writer.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n").await?;
                writer.write_all(&bytes).await?;
                return Ok(());
            }
            Answer::Silence(bytes) => {
                writer.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n").await?;
                writer.write_all(&bytes).await?;
                let _ = reader.read(&mut [0]).await;
                return Ok(());
            }
            Answer::Drip => {
                writer.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n").await?;
                loop {
                    writer.write_all(b"x").await?;
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            }
            Answer::DripHead => {
                writer.write_all(b"HTTP/1.1 200 OK\r\nX-Slow: ").await?;
                loop {
                    writer.write_all(b"x").await?;
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            }
            Answer::Raw(bytes) => {
                writer.write_all(&bytes).await?;
                return Ok(());
            }
            Answer::Late(pause, bytes) => {
                tokio::time::sleep(pause).await;
                writer.write_all(&bytes).await?;
                return Ok(());
            }
            Answer::HangUp => return Ok(()),
        }
    }
}
