// Access: the address with the token opens a session, which this tab keeps. It is no
// cookie: a browser sends those to whatever else listens on this host.

const key = "hookrouter.session", aim = "hookrouter.aim";

export const session = () => sessionStorage.getItem(key) || "";

let trusted = false; // since when the router has not been out of sight

// distrust is called when the connection is lost: whoever answers next may be another program.
export const distrust = () => { trusted = false; };

const bytes = (text) => new TextEncoder().encode(text);
const encode = (data) => btoa(String.fromCharCode(...new Uint8Array(data))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

// proven reports whether who answers has the key that signed the session, which is not shown
// to anybody else. A browser that has no digests here, without TLS from afar, can't tell.
export async function proven() {
  if (trusted || !session() || !crypto.subtle) return true;
  const cut = session().lastIndexOf("."), nonce = encode(crypto.getRandomValues(new Uint8Array(24)));
  const response = await fetch("/v1/session/proof", { method: "POST", body: JSON.stringify({ session: session().slice(0, cut), nonce }) });
  if (response.status >= 500) throw new Error("the router can't serve now");
  const key = await crypto.subtle.importKey("raw", bytes(session().slice(cut + 1)), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const right = encode(await crypto.subtle.sign("HMAC", key, bytes("hookrouter console proof\n" + nonce)));
  trusted = response.ok && (await response.json()).proof === right;
  return trusted;
}

// given is the token in an address.
const given = () => new URLSearchParams(location.hash.slice(1)).get("token") || new URLSearchParams(location.search).get("token");

// signIn opens a session where the address has a token, or a proxy sends one with every
// request. Without either it leads to the page that says where the token stands.
export async function signIn() {
  const token = given();
  if (token || !session()) {
    if (token) history.replaceState(null, "", sessionStorage.getItem(aim) || location.pathname); // without the token
    sessionStorage.removeItem(key);
    const response = await fetch("/v1/session", { method: "POST", headers: token ? { authorization: "Bearer " + token } : {} });
    if (response.ok) sessionStorage.setItem(key, (await response.json()).session);
  }
  if (session()) {
    sessionStorage.removeItem(aim);
    return true;
  }
  sessionStorage.setItem(aim, location.pathname); // where the token leads then, in this tab
  location.replace("/denied");
  return false;
}

addEventListener("hashchange", () => { if (given()) location.reload(); }); // a new address for the same page
