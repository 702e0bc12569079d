internal import LinkMessages

/// The addresses at Google that codes may be sent to, built in so that nobody has to type fourteen of them.
public enum GoogleRedirects {
    /// What App Flip opens (`/a/`) and what the browser flow of that project opens (`/r/`), compared as whole texts.
    public static func addresses(projectID: String, sandbox: Bool) -> [String] {
        AppFlip.appAddresses(sandbox: sandbox) + AppFlip.browserAddresses(projectID: projectID, sandbox: sandbox)
    }
}
