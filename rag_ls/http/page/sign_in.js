// What comes after # in the address says which project is shown.
// The answer to the one-time code holds the token; this tab alone keeps it, as long as it is open.
import { keepToken } from "./api.js";

keepToken(JSON.parse(document.getElementById("token").textContent));
location.replace(`/${location.hash}`);
