// Access: the address with the token opens a session, which this tab keeps. It is no
// cookie: a browser sends those to whatever else listens on this host.

const key = "hookrouter.session", aim = "hookrouter.aim";

export const session = () => sessionStorage.getItem(key) || "";

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
