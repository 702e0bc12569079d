/// The addresses at Google that codes may be sent to, built in so that nobody has to type fourteen of them.
public enum GoogleRedirects {
    /// The apps whose link back Google opens after App Flip.
    static let bundles = [
        "com.google.Chromecast", "com.google.Chromecast.dev", "com.google.Chromecast.enterprise",
        "com.google.OPA", "com.google.OPA.dev", "com.google.OPA.enterprise",
    ]

    /// What App Flip opens (`/a/`) and what the browser flow of that project opens (`/r/`), compared as whole texts.
    public static func addresses(projectID: String, sandbox: Bool) -> [String] {
        let hosts =
            ["oauth-redirect.googleusercontent.com"] + (sandbox ? ["oauth-redirect-sandbox.googleusercontent.com"] : [])
        return hosts.flatMap { host in
            bundles.map { "https://\(host)/a/\($0)" } + ["https://\(host)/r/\(projectID)"]
        }
    }
}
