import Crypto
import Dispatch
import Glibc
import Testing

@Suite("The end of a program", .timeLimit(.minutes(5))) struct EndingTests {
    @Test("a program that ends while other threads still sign ends with its own code, and does not crash")
    func exitWhileSigning() async {
        for _ in 0..<4 {
            await #expect(processExitsWith: .exitCode(7)) {
                let begun = DispatchSemaphore(value: 0)
                for index in 0..<4 {
                    DispatchQueue(label: "signer \(index)").async {
                        begun.signal()
                        while true {
                            let key = try? PrivateKey.generate(.p256)
                            _ = try? key?.signature(of: SecureRandom.bytes(32), algorithm: .es256)
                        }
                    }
                }
                for _ in 0..<4 { begun.wait() }
                exit(7)
            }
        }
    }
}
