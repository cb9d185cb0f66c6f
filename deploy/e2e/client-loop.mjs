// A client that asks without a pause, by turns over a kept connection and a new one; a line for every failure, and one a second.
const { URL: url, ADMIN_SECRET, QUERY, VARIABLES } = process.env;
let asked = 0;
let failed = 0;

async function ask(isKept) {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-engine-admin-secret': ADMIN_SECRET,
      ...JSON.parse(VARIABLES),
      ...(isKept ? {} : { connection: 'close' }),
    },
    body: JSON.stringify({ query: QUERY }),
  });
  const text = await response.text();
  if (response.status !== 200 || !text.startsWith('{"data":{')) throw new Error(`${response.status} ${text}`);
}

setInterval(() => console.log(JSON.stringify({ asked, failed })), 1000);
for (;;) {
  await ask(asked % 2 === 0).catch((error) => {
    failed++;
    console.log(`failed at ${new Date().toISOString()}: ${error.message} ${error.cause ?? ''}`);
  });
  asked++;
  await new Promise((resolve) => setTimeout(resolve, 20));
}
