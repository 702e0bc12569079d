// Not compiled on Linux, where this package is built and tested: this file only carries out what LinkOpener decides.
#if os(iOS) && canImport(UIKit) && canImport(AuthenticationServices)
    public import AuthenticationServices
    public import Foundation
    public import UIKit

    /// Takes the user to Amazon and back, on iOS.
    @MainActor public final class LinkSession: NSObject {
        private let anchor: UIWindow
        private let finish: @MainActor (LinkOpener.Step) -> Void
        private var opener: LinkOpener
        private var session: ASWebAuthenticationSession?

        /// A session over the window `anchor`; `finish` is told to handle an address, to stop, or that it failed.
        public init(
            opener: LinkOpener, anchor: UIWindow, finish: @escaping @MainActor (LinkOpener.Step) -> Void
        ) {
            self.opener = opener
            self.anchor = anchor
            self.finish = finish
        }

        /// Starts, when the user pressed the button.
        public func begin() { perform(opener.begin()) }

        /// Tells the session of a universal link that opened the app.
        public func returned(to url: URL) {
            let step = opener.returned(to: url)
            session?.cancel()
            session = nil
            perform(step)
        }

        private func perform(_ step: LinkOpener.Step) {
            switch step {
            case .openAlexaApp(let url):
                UIApplication.shared.open(url, options: [.universalLinksOnly: true]) { opened in
                    Task { @MainActor in self.perform(self.opener.alexaApp(opened: opened)) }
                }
            case .openLoginWithAmazon(let url, let redirect): show(url, redirect: redirect)
            case .waitForReturn: break
            case .handle, .stop, .fail: finish(step)
            }
        }

        private func show(_ url: URL, redirect: URL) {
            let ended: @Sendable (URL?, (any Error)?) -> Void = { url, error in
                let isClosed = (error as? ASWebAuthenticationSessionError)?.code == .canceledLogin
                let end = url.map { LinkOpener.SessionEnd.redirected($0) } ?? (isClosed ? .closedByUser : .failed)
                Task { @MainActor in self.perform(self.opener.session(ended: end)) }
            }
            let session: ASWebAuthenticationSession
            if #available(iOS 17.4, *), let host = redirect.host {
                session = ASWebAuthenticationSession(
                    url: url, callback: .https(host: host, path: redirect.path), completionHandler: ended)
            } else {
                // Older systems end a session at own schemes only: there the universal link, or the page behind it, does.
                session = ASWebAuthenticationSession(url: url, callbackURLScheme: nil, completionHandler: ended)
            }
            session.presentationContextProvider = self
            self.session = session
            if !session.start() { perform(opener.session(ended: .failed)) }
        }
    }

    extension LinkSession: ASWebAuthenticationPresentationContextProviding {
        /// The window that the session is shown over.
        public func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor { anchor }
    }
#endif
