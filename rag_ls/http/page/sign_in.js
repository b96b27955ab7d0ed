// The one-time link's answer holds the token; the page keeps it in its own storage, which no other port can read.
const { token } = JSON.parse(document.getElementById("token").textContent);
localStorage.setItem("rag-ls.token", token);
location.replace("/");
