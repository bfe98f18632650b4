# (mode, template). modes: raw any; w bare word; dq/sq shell quotes; j JSON string; p bare in a sentence; md between backticks; split; u URL
T = {}
T["env"] = [
 ("w", "~E~=~S~"), ("w", "# production\nNODE_ENV=production\n~E~=~S~\nLOG_LEVEL=info"), ("dq", '~E~="~S~"'), ("sq", "~E~='~S~'  # rotate every 90 days"),
 ("w", "export ~E~=~S~"), ("dq", 'export ~E~="~S~" && make deploy'), ("sq", "export ~E~='~S~'"), ("sq", "~E~='~S~' ./bin/sync --all --dry-run"),
 ("w", "~E~=~S~ npm run release -- --tag next"), ("w", "docker run --rm -e ~E~=~S~ -p 8080:80 ~O~/api:1.14.2"), ("sq", "docker run -d --name worker -e '~E~=~S~' -e TZ=Europe/Berlin ~O~/worker"),
 ("dq", "podman run --env ~E~=\"~S~\" quay.io/~O~/tool:latest"), ("w", "[Service]\nEnvironment=~E~=~S~\nExecStart=/usr/local/bin/app --port 9000"), ("j", '[Service]\nUser=app\nEnvironment="~E~=~S~" "TZ=UTC"\nRestart=on-failure'),
 ("w", "    env:\n      ~E~: ~S~\n      CI: true"), ("sq", "      - name: Publish\n        run: ./publish.sh\n        env:\n          ~E~: '~S~'"),
 ("sq", "$env:~E~ = '~S~'"), ("dqp", '$Env:~E~="~S~"; dotnet run'), ("raw1", "set ~E~=~S~"), ("sq", "setx ~E~ '~S~' /M"), ("dqp", '[Environment]::SetEnvironmentVariable("~E~", "~S~", "User")'),
 ("w", "    environment:\n      - ~E~=~S~\n      - DEBUG=0"), ("j", '    environment:\n      ~E~: "~S~"'), ("w", "ENV ~E~=~S~"), ("w", "ARG ~E~=~S~\nRUN ./install.sh"),
 ("w", "heroku config:set ~E~=~S~ -a ~O~-prod"), ("w", "fly secrets set ~E~=~S~"), ("sq", "set -gx ~E~ '~S~'"), ("sq", "gh secret set ~E~ --body '~S~' --repo ~O~/web"),
 ("sq", "echo \"export ~E~='~S~'\" >> ~/.zshrc"), ("w", "kubectl create secret generic app --from-literal=~E~=~S~ -n prod"), ("w", "  ~E~=~S~ \\\n  REGION=eu-central-1 \\\n  terraform apply -auto-approve"),
 ("w", "$ env | grep -i ~I1~\n~E~=~S~"), ("w", "+ ~E~=~S~\n+ ./deploy.sh staging"), ("dq", "declare -x ~E~=\"~S~\""), ("w", "export ~E~=~S~;export PATH=$PATH:~/bin"), ("w", "ssh deploy@~ip~ 'export ~E~=~S~; systemctl restart app'")]
T["header"] = [
 ("raw", "~HD~"), ("raw", "GET /v1/items?limit=20 HTTP/1.1\r\nHost: ~H~\r\n~HD~\r\nAccept: application/json\r\n\r\n"), ("raw", "POST /v1/jobs HTTP/1.1\nHost: ~H~\n~HD~\nContent-Type: application/json\nContent-Length: 17\n\n{\"name\":\"hello\"}"),
 ("dq", 'curl -s https://~H~/v1/me -H "~HD~"'), ("sq", "curl -X POST 'https://~H~/v1/run' \\\n  -H '~HD~' \\\n  -H 'Content-Type: application/json' \\\n  -d '{\"a\":1}'"),
 ("sq", "curl --header '~HD~' --silent https://~H~/ | jq ."), ("raw", "> GET /v1/status HTTP/2\n> Host: ~H~\n> user-agent: curl/8.5.0\n> ~HDl~\n> accept: */*"),
 ("raw", "~D~T~T~Z DEBUG http: request headers: ~HD~"), ("raw", "~D~ ~T~,311 [DEBUG] urllib3 send: GET /v1 | ~HDl~ | Accept: */*"), ("sq", "wget --header='~HD~' https://~H~/export.csv"),
 ("j", 'headers = {"~HN~": "~HV~", "Accept": "application/json"}'), ("j", 'fetch("https://~H~/v1/me", { headers: { "~HN~": "~HV~" } })'), ("j", 'req.Header.Set("~HN~", "~HV~")'),
 ("sq", "$headers = @{ '~HN~' = '~HV~' }\nInvoke-RestMethod -Uri https://~H~/v1/me -Headers $headers"), ("sq", "http GET https://~H~/v1/me '~HN~:~HV~'"),
 ("dqp", "proxy_set_header ~HN~ \"~HV~\";"), ("raw", "### list\nGET https://~H~/v1/list\n~HD~\n"), ("j", '{"level":"debug","ts":"~D~T~T~Z","msg":"outgoing","headers":{"~HN~":["~HV~"],"host":["~H~"]}}'), ("j", ".header(\"~HN~\", \"~HV~\")"), ("raw", "The request was sent with `~HD~` and got a 403."), ("sq", "git -c http.extraHeader='~HD~' fetch origin")]
T["json"] = [
 ("j", '{"~J~":"~S~"}'), ("j", '{\n  "host": "~H~",\n  "~J~": "~S~",\n  "timeout": 30\n}'), ("j", '{"user": "~u~", "~J~": "~S~", "active": true}'), ("j", '"~J~" : "~S~",'),
 ("jj", '{"level":"info","body":"{\\"~J~\\":\\"~S~\\",\\"ok\\":true}"}'), ("y", "~J~: ~S~"), ("y", "app:\n  host: ~H~\n  ~J~: ~S~\n  retries: 3"), ("j", 'service:\n  ~J~: "~S~"'), ("sq", "  ~J~: '~S~'  # todo: move to the vault"),
 ("j", '[~O~]\n~J~ = "~S~"\nregion = "eu"'), ("sq", "~J~ = '~S~'"), ("y", "[default]\n~J~ = ~S~\noutput = json"), ("y", "~J~=~S~"), ("j", 'const ~J~ = "~S~";'), ("sq", "const client = new Client({ ~J~: '~S~', region: 'eu' });"),
 ("j", '~J~ := "~S~"'), ("j", 'private static final String ~JU~ = "~S~";'), ("j", 'client = Client(host="~H~", ~J~="~S~")'), ("j", "let ~J~ = String::from(\"~S~\");"), ("sq", "'~J~' => '~S~',"), ("sq", "define('~JU~', '~S~');"),
 ("j", 'variable "~J~" {\n  type    = string\n  default = "~S~"\n}'), ("xml", "<~J~>~S~</~J~>"), ("xml", '<add key="~J~" value="~S~" />'), ("j", "{'id': ~n~, '~J~': \"~S~\"}"), ("j", '{"name":"~E~","value":"~S~"}'), ("j", '- name: ~E~\n  value: "~S~"'), ("j", '"env": {\n    "~E~": "~S~"\n  }'), ("j", 'os.environ["~E~"] = "~S~"'), ("j", '(~J~: "~S~")')]
T["url"] = [
 ("u", "~URL~"), ("u", "git clone ~URL~"), ("u", "curl -fsSL '~URL~' -o /tmp/out"), ("u", "See ~URL~ for the result."), ("u", "[open](~URL~)"), ("u", "SERVICE_URL=~URL~"), ("u", '{"url": "~URL~", "method": "GET"}'),
 ("u", "~D~ ~T~ ERROR connection to ~URL~ failed: timeout after 30s"), ("u", "origin\t~URL~ (fetch)"), ("u", "try (~URL~), it worked for me"), ("u", "fatal: unable to access '~URL~': Could not resolve host"), ("u", "requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: ~URL~"),
 ("u", "<~URL~>"), ("u", "url: ~URL~\nretries: 2"), ("u", "open \"~URL~\""), ("u", "`~URL~`"), ("u", "| prod | ~URL~ | ok |"), ("u", "await page.goto('~URL~');"), ("u", "~ip~ - - [12/Mar/2025:~T~ +0000] \"GET ~URL~ HTTP/1.1\" 200 512")]
