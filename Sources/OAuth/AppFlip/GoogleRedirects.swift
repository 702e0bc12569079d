internal import LinkMessages

/// The addresses at Google that codes may be sent to, built in so that nobody has to type fourteen of them.
///
/// All are compared as whole texts.
public enum GoogleRedirects {
    /// What App Flip opens (`/a/`): links that one of Google's apps takes.
    public static func apps(sandbox: Bool) -> [String] { AppFlip.appAddresses(sandbox: sandbox) }

    /// Those, and what the browser flow of that project opens (`/r/`): where codes may be sent.
    public static func addresses(projectID: String, sandbox: Bool) -> [String] {
        apps(sandbox: sandbox) + AppFlip.browserAddresses(projectID: projectID, sandbox: sandbox)
    }
}
